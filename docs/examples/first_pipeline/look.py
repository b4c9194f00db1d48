"""Prints what is in the table of the stack `Invoices`."""

import boto3

(stack,) = boto3.client("cloudformation").describe_stacks(StackName="Invoices")["Stacks"]
outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
for row in boto3.resource("dynamodb").Table(outputs["TableName"]).scan()["Items"]:
    print(f"{row['pk']}: {row['lines']} lines, SHA-256 {row['sha256']}")
