"""`evalstudio generate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, configuration_for, progress_display, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for

if TYPE_CHECKING:
    import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument(
        "documents",
        nargs="+",
        metavar="DOCUMENT",
        help="files, folders or URLs: md, txt, html, pdf; collection://NAME/ID for the collection ID at the"
        " service of the connection or model NAME",
    )
    parser.add_argument("-o", "--output", required=True, metavar="SUITE")
    parser.add_argument(
        "--count", type=int, default=30, metavar="N", help="number of test cases (default: %(default)s)"
    )
    parser.add_argument(
        "--generators", default="", metavar="ID[,ID...]", help="kinds of question (default: all available)"
    )
    parser.add_argument(
        "--writer",
        default="",
        metavar="NAME",
        help='configured model that writes the questions, or "judge" (default: they are extracted)',
    )
    parser.add_argument(
        "--pipeline",
        metavar="NAME",
        help="spaCy pipeline that parses the sentences (default: en_core_web_sm, where it is installed)",
    )
    parser.add_argument(
        "--topic", action="append", default=[], metavar="ID", help="only this topic; repeatable"
    )
    parser.add_argument(
        "--not-topic", action="append", default=[], metavar="ID", help="leave this topic out; repeatable"
    )
    parser.add_argument(
        "--chunk",
        action="append",
        default=[],
        metavar="ID",
        help="of its topic only this chunk (`source_chunk` of the cases); repeatable",
    )
    parser.add_argument(
        "--not-chunk", action="append", default=[], metavar="ID", help="leave this chunk out; repeatable"
    )
    parser.add_argument("--name", default="Generated tests", help="of the suite (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of everything random (default: %(default)s)")
    parser.add_argument("--config", metavar="FILE", help="configuration file, in place of the nearest one")
    parser.add_argument(
        "--cache",
        default=".evalstudio",
        metavar="DIR",
        help="folder of stored replies and vectors (default: %(default)s)",
    )
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the suite, and name its topics."""
    from pytest_evalstudio.contrib.validation.generate import generate_test_cases

    path = Path(arguments.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    with progress_display("reading the documents") as progress:
        generated = generate_test_cases(
            arguments.documents,
            count=arguments.count,
            generators=[name.strip() for name in arguments.generators.split(",") if name.strip()],
            writer=arguments.writer,
            pipeline=arguments.pipeline,
            topics_included=arguments.topic,
            topics_excluded=arguments.not_topic,
            chunks_included=arguments.chunk,
            chunks_excluded=arguments.not_chunk,
            name=arguments.name,
            seed=arguments.seed,
            config=configuration_for(arguments.output, arguments.config),
            registry=registry_for(arguments),
            cache=Path(arguments.cache),
            folder=path.absolute().parent,
            progress=progress,
        )
    generated.suite.save(path)
    say(f"wrote {path}: {generated.summary}", *generated.notes)
    for id, words in generated.topics.items():
        say(f"  topic {id}: {', '.join(words[:5])}")
    say("Read the questions before you use them; each case quotes its evidence.")
    return FINE
