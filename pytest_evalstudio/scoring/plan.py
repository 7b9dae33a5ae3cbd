"""Evaluators of a case, with their parameters and thresholds."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.core.conversations import ConversationPlan
from pytest_evalstudio.core.errors import ConfigurationError, nearest, unknown_name
from pytest_evalstudio.core.judging import JUDGE
from pytest_evalstudio.core.plugins.declaring import parameters
from pytest_evalstudio.core.plugins.evaluator import Evaluator, EvaluatorSpec
from pytest_evalstudio.core.plugins.perturbator import Perturbator, PerturbatorSpec
from pytest_evalstudio.core.plugins.registry import PluginRegistry, Registry
from pytest_evalstudio.formats.config import DEFAULT_EVALUATORS, Configuration, UncheckedPolicy
from pytest_evalstudio.formats.options import build, check_options
from pytest_evalstudio.scoring.judge_checks import JUDGE_CHECK_OPTION, AttachedCheck, check_of
from pytest_evalstudio.scoring.model_tables import chosen_models
from pytest_evalstudio.scoring.reporting_options import ReportingOptions, names_for
from pytest_evalstudio.scoring.required_spans import RequiredSpans, required_spans
from pytest_evalstudio.scoring.step_selection import StepSelection, step_selection
from pytest_evalstudio.scoring.thresholds import by_evaluator, named_thresholds, thresholds_of

if TYPE_CHECKING:
    from pytest_evalstudio.core.guide_names import NamesRead
    from pytest_evalstudio.scoring.calibration.attachment import Attached

CALIBRATION_OPTION = "calibration"
FLIPS_OPTION = "flips"
STEPS_OPTION = "on"
COMMON_OPTIONS = (
    "type",
    "threshold",
    "thresholds",
    FLIPS_OPTION,
    CALIBRATION_OPTION,
    JUDGE_CHECK_OPTION,
    STEPS_OPTION,
)
JUDGE_OPTION = "judge"
"""The table of an evaluator that has a judge of its own."""
ALL = "all"
SELECTORS = ("method", "domain", "tag")
"""Properties by which `PROPERTY:VALUE` selects evaluators; a tag is one of the keywords."""
_CONFIGURATION_ONLY: Mapping[str, str] = {
    "type": "a case chooses evaluators by their names; make an instance in the configuration and name that",
    JUDGE_OPTION: "a case cannot choose its judge; give it to the evaluator in the configuration",
    CALIBRATION_OPTION: "a case cannot choose a calibration; give it to the evaluator in the configuration",
    JUDGE_CHECK_OPTION: "a case cannot choose a judge-check; give it to the evaluator in the configuration",
}
"""Options that are allowed only in the configuration, and the message for other places."""
_OF_RUN = "it holds for the whole run; give it to the evaluator in the configuration"


_ALL_EVALUATORS = (
    "`evalstudio evaluators` lists all. A conftest.py adds one by registry.add_evaluator in"
    " pytest_evalstudio_register(registry)."
)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ConfiguredEvaluator:
    """An evaluator as this run uses it.

    Attributes:
        id: its name everywhere: the evaluator's own, or that of a configured instance.
        spec: its declaration.
        evaluator: the object that scores.
        thresholds: metric key to threshold, for every metric.
        asserted: metrics that decide an item: the primary one, and those the user set a threshold for.
        parameters: its options, as the record shows them.
        embedder: the embedding model it uses, "" for none: thresholds hold for one model only.
        own_judge: settings of its judge that differ from the configuration's.
        judge: its judge as the record shows it; empty for none.
        attached: the calibration that makes its primary metric a probability, None for none.
        check: measured errors of its judge, None for none.
        uses: models that it can do without and that the configuration names.
        all_flips: also metrics that follow from the primary one are checked for flips.
        on: steps that it scores in place of the answer; None for the answer.
        reporting: what of its results is recorded and reported.
        required_spans: answers whose spans have not arrived are errors: none, those without calls in the
            reply, or all.
    """

    id: str
    spec: EvaluatorSpec
    evaluator: Evaluator
    thresholds: Mapping[str, float]
    asserted: frozenset[str]
    parameters: Mapping[str, Any]
    embedder: str = ""
    own_judge: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    judge: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    attached: Attached | None = None
    check: AttachedCheck | None = None
    uses: tuple[str, ...] = ()
    all_flips: bool = False
    on: StepSelection | None = None
    reporting: ReportingOptions = dataclasses.field(default_factory=ReportingOptions)
    required_spans: RequiredSpans = "none"

    @property
    def requires(self) -> tuple[str, ...]:
        """Requirements for scoring, given the options."""
        return (*self.spec.requirements_of(self.evaluator), *self.uses)

    @property
    def needs(self) -> tuple[str, ...]:
        """Inputs that it cannot do without, with the options it has."""
        return self.spec.needs_of(self.evaluator)


class Plan:
    """The evaluators of one configuration, made once and shared by all its cases.

    Args:
        registry: registry of plugins.
        config: file settings; its `evaluators` is the choice, its `evaluator` tables are their options.
        thresholds: `ID` or `ID.METRIC` to threshold, from the command line or a workflow; they win over the
            configuration's.
        lacks: returns why an evaluator is not available here, or ""; "all" leaves unavailable ones out.
        told_as: where the thresholds were given, for messages.

    Attributes:
        left_out: evaluators that "all" or a property left out, and why.
        broad_choice: the first such choice, "" for none.

    Raises:
        ConfigurationError: for an unknown name, option or threshold.
    """

    def __init__(
        self,
        registry: Registry,
        config: Configuration,
        *,
        thresholds: Mapping[str, float] | None = None,
        lacks: Callable[[ConfiguredEvaluator], str] = lambda selected: "",
        told_as: str = "--evalstudio-threshold",
    ) -> None:
        self._registry = registry
        self._config = config
        self._thresholds = by_evaluator(thresholds or {})
        self._lacks = lacks
        self._told_as = told_as
        self.left_out: dict[str, str] = {}
        self.broad_choice = ""
        self._made: dict[tuple[str, str], ConfiguredEvaluator] = {}
        self._declared: dict[str, tuple[EvaluatorSpec, Attached | None]] = {}
        # Thresholds of one evaluator may come under two names, the guide's and ours; they are merged.
        for name in list(self._thresholds):
            values = self._thresholds.pop(name)
            self._thresholds.setdefault(self._own(name), {}).update(values)
        # All tables are checked, also of evaluators that are not selected: cases may select them.
        for name, options in config.evaluator.items():
            self._check_table(name, options)
        for name in self._thresholds:
            self._command_line(name, self._declaration(name)[0])
        self.selected = self.choose(
            config.evaluators if config.evaluators is not None else DEFAULT_EVALUATORS
        )

    @property
    def perturbators(self) -> PluginRegistry[type[Perturbator], PerturbatorSpec]:
        """The perturbators of the session, which say whether they keep the meaning."""
        return self._registry.perturbators

    @property
    def specs(self) -> PluginRegistry[type[Evaluator], EvaluatorSpec]:
        """The declarations of all known evaluators."""
        return self._registry.evaluators

    @property
    def fails_incomplete(self) -> bool:
        """Return whether an answer that was cut or filtered fails its case."""
        return self._config.incomplete_answers == "fail"

    def unchecked_policy(self, choice: Mapping[str, Mapping[str, object]] | None) -> UncheckedPolicy:
        """Return the treatment of a case that no evaluator checks.

        Args:
            choice: evaluators of the case's own, None for the run's.
        """
        policy = self._config.unchecked_policy
        # Who chose evaluators for a case by hand is not failed by a default, only by an explicit setting.
        return "note" if self._config.unchecked is None and choice is not None else policy

    def choose(self, names: Sequence[str]) -> tuple[ConfiguredEvaluator, ...]:
        """Return the named evaluators in order, without duplicates.

        "all" selects every evaluator that is available, "method:M", "domain:D" and "tag:T" those with that
        property.
        """
        valid_names = []
        for name in names:
            valid_names += self._several(name) if is_selector(name) else [self._own(name)]
        configured = tuple(self.get(name) for name in dict.fromkeys(valid_names))
        _check_calibrations(configured)
        return configured

    def get(self, name: str, options: Mapping[str, object] | None = None) -> ConfiguredEvaluator:
        """Return an evaluator; options given here take precedence over the configured ones.

        Raises:
            ConfigurationError: for an unknown name or option.
        """
        name = self._own(name)
        # As a text, since options may be lists and tables, which cannot be hashed.
        identity = (name, json.dumps(options or {}, sort_keys=True, default=str))
        if identity not in self._made:
            self._made[identity] = self._make(name, options or {})
        return self._made[identity]

    def for_case(
        self, choice: Mapping[str, Mapping[str, object]] | None, conversation: ConversationPlan | None = None
    ) -> tuple[ConfiguredEvaluator, ...]:
        """Return the evaluators of a case: its own choice if it has one, else the run's.

        Args:
            choice: id to options.
            conversation: of the case; its turns may name some of the evaluators.

        Raises:
            ConfigurationError: if a turn names an evaluator that the case does not have.
        """
        configured = self.selected if choice is None else self._chosen(choice)
        ids = [selected.id for selected in configured]
        for name in conversation.evaluators_of_turns if conversation is not None else ():
            if self._own(name) not in ids:
                raise unknown_name("evaluator", name, ids, f"The case has: {', '.join(ids)}.")
        _check_calibrations(configured)
        return configured

    def _chosen(self, choice: Mapping[str, Mapping[str, object]]) -> tuple[ConfiguredEvaluator, ...]:
        ids = [self._own(name) for name in choice]
        for index, id in enumerate(ids):
            if id in ids[:index]:
                raise ConfigurationError(f"evaluator {id} is listed twice, under two names; list it once")
        return tuple(
            self.get(id, self._of_case(id, options)) for id, options in zip(ids, choice.values(), strict=True)
        )

    def _of_case(self, name: str, options: Mapping[str, object]) -> Mapping[str, object]:
        """Return the options of a case; they must not choose what code or weights are loaded.

        Cases come from files, which are not trusted.

        Raises:
            ConfigurationError: if they name a file that the configuration does not name, or a model or
                module.
        """
        declaration = self._type_of(name).__evalstudio__
        configured = {**self._defaults(declaration), **self._config.evaluator.get(name, {})}
        location = f"evaluator {name}"
        kind = str(configured.get("type", name))
        from pytest_evalstudio.core.guide_names import own_options

        options = own_options(kind, options, self._names_read, location, connections=self._config.connection)
        for key in declaration.path_options:
            if key in options and options[key] != configured.get(key):
                raise ConfigurationError(
                    f"{location}.{key}: a case cannot choose a file; give it in [evaluator.{name}]"
                )
        # Requirements with a colon name something to load (a model, module or pipeline); the others are
        # tables.
        declared = {requirement for requirement in self.get(name).requires if ":" in requirement}
        for requirement in self.get(name, options).requires:
            kind, sign, value = requirement.partition(":")
            if sign and requirement not in declared:
                raise ConfigurationError(
                    f"{location}: a case cannot choose the {kind.replace('_', ' ')} {value!r}; give it in"
                    f" [evaluator.{name}]"
                )
        return options

    def alone(self, name: str, options: Mapping[str, object] | None = None) -> ConfiguredEvaluator:
        """Return one evaluator, as `get`, that is to score without other evaluators.

        Raises:
            ConfigurationError: also if it has a calibration that needs scores of other evaluators.
        """
        configured = self.get(name, options)
        _check_calibrations([configured])
        return configured

    def notes(self) -> list[str]:
        """Return what is worth saying once about names in test cases and on the command line.

        A name is in the notes of one call only.
        """
        note = self._names_read.note() if "_names_read" in self.__dict__ else ""
        return [note] if note else []

    def _own(self, name: str) -> str:
        """Return our id of an evaluator that the guide calls so."""
        # Names of the guide have capitals or blanks; this saves the import of their table.
        if name in self._config.evaluator or (name.isidentifier() and name.islower()):
            return name  # no name of the guide
        from pytest_evalstudio.core.guide_names import own_evaluators

        return own_evaluators([name], self._names_read)[0]

    @functools.cached_property
    def _names_read(self) -> NamesRead:
        """Return the guide's names that test cases and the command line use."""
        from pytest_evalstudio.core.guide_names import NamesRead

        return NamesRead()

    def made(self) -> list[ConfiguredEvaluator]:
        """Return every evaluator that the run or a case has requested so far."""
        return list(self._made.values())

    def _several(self, selector: str) -> list[str]:
        """Return the available evaluators that "all" or a property selects.

        Raises:
            ConfigurationError: if no evaluator has the property.
        """
        valid_names = dict.fromkeys([*self._registry.evaluators, *self._instances()])
        specs = {name: self._type_of(name).__evalstudio__ for name in valid_names}
        kind, _, value = selector.partition(":")
        names = [name for name in valid_names if selector == ALL or value in _values(specs[name], kind)]
        if not names:
            values = sorted({value for spec in specs.values() for value in _values(spec, kind)})
            raise unknown_name(kind, value, values, f"The values of {kind} are: {', '.join(values)}.")
        # By `_make`, not `get`: evaluators that are left out must not appear among those made.
        lacking = {name: reason for name in names if (reason := self._lacks(self._make(name, {})))}
        self.left_out |= lacking
        self.broad_choice = self.broad_choice or selector
        return [name for name in names if name not in lacking]

    def _instances(self) -> list[str]:
        return [name for name, options in self._config.evaluator.items() if "type" in options]

    def _type_of(self, name: str) -> type[Evaluator]:
        table = self._config.evaluator.get(name, {})
        kind = table.get("type", name)
        if kind not in self._registry.evaluators:
            names = [*self._registry.evaluators, *self._instances()]
            from pytest_evalstudio.core.guide_names import plain_evaluator

            near = nearest(str(kind), names) or nearest(plain_evaluator(str(kind)), names)
            raise ConfigurationError(
                " ".join(filter(None, (f"no evaluator named {str(kind)!r}.", near, _ALL_EVALUATORS)))
            )
        return self._registry.evaluators.get(str(kind))

    def _check_table(self, name: str, options: Mapping[str, object]) -> None:
        location = f"{self._config.file or 'configuration'}: evaluator.{name}"
        try:
            cls = self._type_of(name)
        except ConfigurationError as exc:
            raise ConfigurationError(f"{location}: {exc}") from None
        _check_given(cls, cls.__evalstudio__, options, location)

    def _declaration(self, name: str) -> tuple[EvaluatorSpec, Attached | None]:
        """Return an evaluator's declaration, and its calibration if the configuration has one."""
        if name not in self._declared:
            cls = self._type_of(name)
            spec = cls.__evalstudio__
            attached = None
            file = self._config.evaluator.get(name, {}).get(CALIBRATION_OPTION)
            if file is not None:
                from pytest_evalstudio.scoring.calibration.attachment import attach

                try:
                    attached, spec = attach(
                        name, spec, self._config.folder / file, file, self._config.embeddings.model
                    )
                except ConfigurationError as exc:
                    raise ConfigurationError(
                        f"{self._config.file or 'configuration'}: evaluator.{name}.{CALIBRATION_OPTION}:"
                        f" {exc}"
                    ) from None
            self._declared[name] = spec, attached
        return self._declared[name]

    def _make(self, name: str, table_of_evaluator: Mapping[str, object]) -> ConfiguredEvaluator:
        cls = self._type_of(name)
        declared = cls.__evalstudio__
        location = f"evaluator {name}"
        # Twice: first the case's own options, so that a message does not blame it for those of the
        # configuration.
        _check_given(cls, declared, table_of_evaluator, location)
        reporting_names = names_for(cls)
        for key, fact in {**_CONFIGURATION_ONLY, **dict.fromkeys(reporting_names, _OF_RUN)}.items():
            if key in table_of_evaluator:
                raise ConfigurationError(f"{location}.{key}: {fact}")
        spec, attached = self._declaration(name)
        table = self._config.evaluator.get(name, {})
        merged = {**self._defaults(declared), **table, **table_of_evaluator}
        common = (*COMMON_OPTIONS, *reporting_names, JUDGE_OPTION)
        settings = {key: value for key, value in merged.items() if key not in common}
        options = _check_given(cls, declared, settings, location)
        options |= {key: self._path(options[key]) for key in spec.path_options if key in options}
        instance = build(cls, options, location)
        thresholds: dict[str, float] = {}
        # Later layers win: the configuration, then the command line, then the case.
        for layer in (
            thresholds_of(table, spec, location),
            self._command_line(name, spec),
            thresholds_of(table_of_evaluator, spec, location),
        ):
            thresholds |= layer
        uses = chosen_models(self._config, spec.uses)
        requires = (*spec.requirements_of(instance), *uses)
        own_judge = self._own_judge(spec, instance, merged) if JUDGE in requires else {}
        on = (
            step_selection(merged[STEPS_OPTION], f"{location}.{STEPS_OPTION}")
            if STEPS_OPTION in merged
            else None
        )
        return ConfiguredEvaluator(
            id=name,
            spec=spec,
            evaluator=instance,
            thresholds={metric.key: metric.threshold for metric in spec.metrics}
            | (attached.uncalibrated_thresholds(thresholds) if attached is not None else {})
            | thresholds,
            # A calibration decides by its own metric alone: people's labels know of no other.
            asserted=frozenset({*(spec.deciding if attached is None else {spec.primary.key}), *thresholds}),
            parameters={
                **parameters(cls),
                **settings,
                **({CALIBRATION_OPTION: attached.file} if attached is not None else {}),
                **({STEPS_OPTION: on.to_dict()} if on is not None else {}),
            },
            embedder=self._config.embeddings.model if "embedder" in requires else "",
            own_judge=own_judge,
            judge=self._judge(own_judge, spec) if JUDGE in requires else {},
            attached=attached,
            check=check_of(self._config, name, spec, table.get(JUDGE_CHECK_OPTION)),
            uses=uses,
            all_flips=merged.get(FLIPS_OPTION) == ALL,
            on=on,
            reporting=ReportingOptions.of(table, cls, location),
            required_spans=required_spans(self._config.trace, spec),
        )

    def _defaults(self, spec: EvaluatorSpec) -> Mapping[str, object]:
        """Return the defaults of an evaluator's options that a table of the configuration gives."""
        if not spec.defaults_table:
            return {}
        options: Mapping[str, object] = getattr(self._config, spec.defaults_table).options
        return options

    def _judge(self, own_judge: Mapping[str, Any], spec: EvaluatorSpec) -> dict[str, Any]:
        from pytest_evalstudio.asking.judging import describe_judge

        return describe_judge(self._config, own_judge, spec.prompts)

    def _own_judge(self, spec: EvaluatorSpec, instance: Any, table: Mapping[str, Any]) -> dict[str, Any]:
        """Return an evaluator's settings of its judge; without any judge, an agent judges by agents."""
        settings = {**spec.judge_of(instance), **table.get(JUDGE_OPTION, {})}
        has_judge = self._config.judge is not None and self._config.judge.members
        if (
            "agent" in spec.method
            and not has_judge
            and not set(settings) & {"host", "model", "connection", "panel"}
        ):
            from pytest_evalstudio.asking.judging import agent_of

            agent = agent_of(self._config, self._registry)
            return {**settings, "model": agent} if agent else settings
        return settings

    def _path(self, value: object) -> object:
        """Resolve a path against the configuration's folder; JSON text is not a path."""
        if not isinstance(value, str) or value.lstrip().startswith("{"):
            return value
        return str(self._config.folder / value)

    def _command_line(self, name: str, spec: EvaluatorSpec) -> dict[str, float]:
        return named_thresholds(self._thresholds.get(name, {}), spec, f"{self._told_as} {name}")


def is_selector(name: str) -> bool:
    """Return True for "all" and for a property with a value."""
    return name == ALL or (name.partition(":")[0] in SELECTORS and ":" in name)


def _values(spec: EvaluatorSpec, kind: str) -> tuple[str, ...]:
    by_kind = {"method": spec.method, "domain": (spec.domain,), "tag": spec.keywords}
    return by_kind.get(kind, ())


def _check_given(
    cls: type[Evaluator], spec: EvaluatorSpec, options: Mapping[str, object], location: str
) -> dict[str, object]:
    """Check the options that a table or case gives to an evaluator.

    Returns:
        Those of the evaluator itself, in the types that its fields declare.

    Raises:
        ConfigurationError: naming the place and the nearest known option.
    """
    common = [*COMMON_OPTIONS, *names_for(cls)]
    if spec.prompts:
        common.append(JUDGE_OPTION)
    judge, calibration = options.get(JUDGE_OPTION, {}), options.get(CALIBRATION_OPTION, "")
    if JUDGE_OPTION in common and not isinstance(judge, Mapping):
        raise ConfigurationError(
            f'{location}.{JUDGE_OPTION}: expected a table, e.g. [evaluator.NAME.judge] with model = "NAME",'
            f" found {judge!r}"
        )
    if not isinstance(calibration, str):
        raise ConfigurationError(
            f"{location}.{CALIBRATION_OPTION}: expected the name of a file that `evalstudio calibrate -o"
            f" FILE` wrote, found {calibration!r}"
        )
    if STEPS_OPTION in options:
        step_selection(options[STEPS_OPTION], f"{location}.{STEPS_OPTION}")
        if spec.judges_conversations or spec.compares or spec.scope != "row":
            raise ConfigurationError(f"{location}.{STEPS_OPTION}: this evaluator scores whole answers only")
    ReportingOptions.of(options, cls, location)
    if options.get(FLIPS_OPTION, ALL) not in (ALL, "primary"):
        raise ConfigurationError(
            f"{location}.{FLIPS_OPTION}: expected 'all' or 'primary', found {options[FLIPS_OPTION]!r}"
        )
    return check_options(cls, options, location, also=common)


def _check_calibrations(configured: Sequence[ConfiguredEvaluator]) -> None:
    """Check that evaluators whose scores a calibration takes are configured together with it."""
    if any(each.attached is not None for each in configured):
        from pytest_evalstudio.scoring.calibration.attachment import check_together

        check_together(configured)
