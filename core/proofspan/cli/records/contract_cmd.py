"""`proofspan contract`: the prompt contract, its smoke test, and the schemas that both are made from."""

from __future__ import annotations

import click
import orjson

from proofspan.contracts.prompt import ANSWER, prompt_contract
from proofspan.contracts.records.schemas import schema, schema_names
from proofspan.contracts.rules.catalogue import rule_of


@click.command("contract")
@click.option("--smoke-test", is_flag=True, help="Print a prompt that has a model check one answer.")
@click.option(
    "--schema", "record_type", type=click.Choice(schema_names()), help="Print the JSON Schema of a record."
)
@click.option(
    "--allow-cross-section", is_flag=True, help="Let one segment of an answer cite several sections."
)
@click.option("--json", "as_json", is_flag=True, help="Print contract, smoke test and schema as JSON.")
def command(smoke_test: bool, record_type: str | None, allow_cross_section: bool, as_json: bool) -> None:
    """Print the contract to paste into a prompt: cite first, five fields a citation, one section a segment.

    It is made from the schema of the auditable answer, which `proofspan validate --as auditable-answer`
    checks. Schemas are complete: nothing has to be fetched.
    """
    if smoke_test and record_type:
        raise click.UsageError("--smoke-test and --schema print different things; name one of them.")
    contract = prompt_contract(allow_cross_section=allow_cross_section)
    if as_json:
        data = {
            "contract": contract.text,
            "smoke_test": contract.smoke_test,
            "citation_fields": contract.citation_fields,
            "codes": [{"code": code, "tip": rule_of(code).fix} for code in contract.codes],
            "schema": schema(record_type or ANSWER),
        }
        click.echo(orjson.dumps(data, option=orjson.OPT_INDENT_2))
    elif record_type is not None:
        click.echo(orjson.dumps(schema(record_type), option=orjson.OPT_INDENT_2))
    else:
        click.echo(contract.smoke_test if smoke_test else contract.text, nl=False)
