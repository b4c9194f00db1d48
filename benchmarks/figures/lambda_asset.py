"""The Lambda asset: how large it is, what a cold start imports, and how many boto3 sessions it makes."""

from __future__ import annotations

import importlib
import json
import os
import statistics
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks import child
from benchmarks.figure import BenchmarkError, Figure
from claim_check.contract import Setting

if TYPE_CHECKING:
    from benchmarks.stand import Stand

LIMIT_MB: Final = 5.0
UNWANTED: Final = ("aws_xray_sdk", "msgspec", "pydantic", "requests")
HANDLERS: Final = ("claim_check.handlers.consumer", "claim_check.handlers.producer")
USER_PACKAGE: Final = "claim_check_examples"
USER_HANDLER: Final = "claim_check_examples.documents:handle"
START_ROUNDS: Final = 5
_MB: Final = 1_000_000

# Runs with the asset in front of everything else; says what a cold start did. Attempts to import count as imports.
_COLD_START: Final = """
import json, sys, time
unwanted, module, answer = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
tried = set()
class Watch:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in unwanted:
            tried.add(name.partition(".")[0])
sys.meta_path.insert(0, Watch)
began = time.process_time()
__import__(module)
imported = time.process_time()
import os
import boto3, botocore.session
import claim_check.aws, claim_check.settings
sessions = {}
def counted(kind, name):
    original = kind.__init__
    def init(self, *args, **kwargs):
        sessions[name] = sessions.get(name, 0) + 1
        original(self, *args, **kwargs)
    kind.__init__ = init
counted(boto3.Session, "boto3")
counted(botocore.session.Session, "botocore")
building = time.process_time()
if module.endswith(".consumer"):
    claim_check.aws.consumer(claim_check.settings.ConsumerSettings.from_environment(os.environ))
else:
    claim_check.aws.producer(claim_check.settings.ProducerSettings.from_environment(os.environ))
built = time.process_time()
with open(answer, "w") as file:
    json.dump({
        "unwanted": sorted(tried | (set(unwanted) & {name.partition(".")[0] for name in sys.modules})),
        "sessions": sessions,
        "default_session": boto3.DEFAULT_SESSION is not None,
        "import_seconds": imported - began,
        "build_seconds": built - building,
        "library": claim_check.__file__,
        "powertools": sys.modules["aws_lambda_powertools"].__file__,
    }, file)
"""


def measure(stand: Stand) -> Iterator[Figure]:
    """Size of the asset, then what starting each function from it does."""
    stand.say("building the Lambda asset")
    asset: dict[str, Any] = child.run(f"{__name__}:build", environment=dict(os.environ), folder=str(stand.folder))
    python = f"with .pyc of Python {asset['compiled_with']}" if asset["compiled_with"] else "without .pyc"
    yield Figure.at_most(
        "Lambda asset, zipped",
        round(asset["zipped"] / _MB, 2),
        LIMIT_MB,
        unit="MB",
        how=f"the documents app's asset as `cdk synth` builds it, {python}; {asset['unpacked'] / _MB:.1f} MB unpacked",
    )
    stand.say("starting the functions from it")
    starts = {module: cold_starts(Path(asset["path"]), module) for module in HANDLERS}
    unwanted = sorted({name for rounds in starts.values() for start in rounds for name in start["unwanted"]})
    yield Figure.exactly(
        "heavy packages imported by a cold start",
        ", ".join(unwanted) or "none",
        "none",
        how=f"{', '.join(UNWANTED)}: neither in sys.modules nor asked for, once both entry points are imported and "
        "consumer (with the app's handler) and producer are built",
    )
    for module, rounds in starts.items():
        name = module.rpartition(".")[2]
        sessions = rounds[0]["sessions"]
        yield Figure.exactly(
            f"boto3 sessions of a {name}",
            max(sessions.get("boto3", 0), sessions.get("botocore", 0)) + rounds[0]["default_session"],
            1,
            how="boto3's and botocore's sessions made while it is built with all its clients",
        )
        imported, built = (
            statistics.median(start[key] for start in rounds) * 1000 for key in ("import_seconds", "build_seconds")
        )
        yield Figure.noted(
            f"CPU of a {name}'s cold start",
            round(imported + built),
            unit="ms",
            how=f"median of {START_ROUNDS} processes: {imported:.0f} ms importing its entry point, {built:.0f} ms "
            "building it with its clients; byte code kept",
        )


def build(folder: str) -> dict[str, Any]:
    """Build and zip the asset, in a process of its own, since the constructs start the CDK's."""
    bundling: Any = importlib.import_module("claim_check_cdk.bundling")
    packages = [bundling.package_folder(USER_PACKAGE)]
    bundle = bundling.bundle(packages=packages, build_dir=child.ROOT / bundling.DEFAULT_BUILD_DIR)
    files = sorted(path for path in bundle.path.rglob("*") if path.is_file())
    archive = Path(folder) / "asset.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        for path in files:
            zipped.write(path, path.relative_to(bundle.path))
    return {
        "path": str(bundle.path),
        "compiled_with": bundle.compiled_with,
        "zipped": archive.stat().st_size,
        "unpacked": sum(path.stat().st_size for path in files),
    }


def cold_starts(asset: Path, module: str) -> list[dict[str, Any]]:
    """Start a function from the asset, each time in a process of its own; the first one only makes byte code.

    Raises:
        BenchmarkError: It did not start, or not from the asset.
    """
    with tempfile.TemporaryDirectory(prefix="claim-check-bench-") as folder:
        answer = Path(folder) / "answer.json"
        command = [sys.executable, "-c", _COLD_START, json.dumps(UNWANTED), module, str(answer)]
        environment = _lambda_environment(asset, Path(folder))
        starts = []
        for _ in range(START_ROUNDS + 1):
            child.execute(command, environment=environment, timeout=60, what=module, given="", log=Path(folder))
            starts.append(json.loads(answer.read_text(encoding="utf-8")))
    for name in ("library", "powertools"):
        if not Path(starts[0][name]).is_relative_to(asset):
            raise BenchmarkError(f"{module} was started with {starts[0][name]} instead of the asset's own")
    return starts[1:]


def _lambda_environment(asset: Path, folder: Path) -> dict[str, str]:
    """The settings that the constructs write; nothing is called, so none of it has to exist."""
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(folder),
        "PYTHONPATH": str(asset),
        "PYTHONPYCACHEPREFIX": str(folder / "pycache"),
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "DOCUMENTS_TABLE": "documents",
        Setting.BUCKET: "bucket",
        Setting.QUEUE_URL: "https://sqs.us-east-1.amazonaws.com/000000000000/queue",
        Setting.DLQ_URL: "https://sqs.us-east-1.amazonaws.com/000000000000/queue-dlq",
        Setting.INBOX_TABLE: "inbox",
        Setting.INBOX_TTL: "86400",
        Setting.BEFORE_SEND: "86400",
        Setting.CONSUMER: "documents",
        Setting.HANDLER: USER_HANDLER,
    }
