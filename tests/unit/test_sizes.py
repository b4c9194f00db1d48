"""Message sizes against an oracle that counts the bytes of the request that boto3 would send."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from claim_check import sizes
from claim_check.ports import MessageAttribute, OutgoingMessage
from tests.fakes.queue import size_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=50)
ATTRIBUTE = st.one_of(
    st.builds(MessageAttribute, data_type=st.sampled_from(["String", "Number", "String.custom"]), value=TEXT),
    st.builds(MessageAttribute, data_type=st.sampled_from(["Binary", "Binary.gif"]), value=st.binary(max_size=50)),
)
MESSAGE = st.builds(OutgoingMessage, body=TEXT, attributes=st.dictionaries(TEXT, ATTRIBUTE, max_size=10))


@given(MESSAGE)
def test_size_is_the_length_of_everything_joined(message: OutgoingMessage) -> None:
    parts: list[bytes] = [message.body.encode()]
    for name, attribute in message.attributes.items():
        value = attribute.value
        parts += [name.encode(), attribute.data_type.encode(), value if isinstance(value, bytes) else value.encode()]
    assert sizes.message_bytes(message) == len(b"".join(parts)) == size_of(message)


# FIELD: Particular/NServiceBus.AmazonSQS#318
def test_attributes_count_by_name_type_and_value() -> None:
    attributes = {
        "größe": MessageAttribute(data_type="String", value="ü€😀"),
        "raw": MessageAttribute(data_type="Binary", value=bytes(100)),
    }
    assert sizes.attributes_bytes(attributes) == (7 + 6 + 9) + (3 + 6 + 100)
