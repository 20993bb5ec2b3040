"""One session: instructions, key practice, practice with feedback, blocks with breaks, debrief.

What is shown next is asked of the plan and of everything recorded so far, so that a resumed session
goes on exactly where it stopped. However it ends, the files are closed and say why.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from experiment.config import SessionConfig
from experiment.endings import Ending, SessionAborted
from experiment.gaze import FixationLimit
from experiment.instructions import Instructions, PageName
from experiment.keys import Press
from experiment.pictures import Pictures
from experiment.plan import PlannedTrial, SessionPlan, choose_next
from experiment.recorder import Recorder
from experiment.task import Lab, TrialRecord, run_trial
from stimuli.seeds import spawn_rng

# Pages shown after an outcome in practice; a gaze break is told in every block.
_FEEDBACK: dict[str, PageName] = {
    "correct": "correct",
    "wrong": "wrong",
    "timeout": "timeout",
    "early": "early",
    "gaze_break": "gaze_break",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What a session shows: the plan, the words, the pictures.

    Attributes
    ----------
    find_pictures
        Returns a display's pixels; None on a virtual stage.
    find_fixation
        Returns where gaze must stay; None without a tracker.
    on_trial
        Called after each presentation, for a progress bar.
    """

    plan: SessionPlan
    config: SessionConfig
    words: Instructions
    find_pictures: Callable[[PlannedTrial], Pictures | None]
    find_fixation: Callable[[PlannedTrial], FixationLimit | None]
    on_trial: Callable[[], None] = lambda: None


def run_session(lab: Lab, script: Script, recorder: Recorder) -> None:
    """Run a session, or what is left of it, and close its files whatever happens.

    Raises
    ------
    SessionAborted
        It ended early; every finished trial is on disk.
    """
    ending: Ending = "error"
    detail = ""
    try:
        with lab.interrupts.listening():
            _introduce(lab, script, is_resumed=recorder.is_resumed)
            _run_trials(lab, script, recorder)
            show_page(lab, script, "debrief")
        ending = "complete"
    except SessionAborted as aborted:
        ending, detail = aborted.reason, aborted.detail
        raise
    finally:
        if ending == "error":
            detail = repr(sys.exc_info()[1])
        recorder.finish(ending, detail)


def show_page(lab: Lab, script: Script, page: PageName, **values: object) -> None:
    """Show a page of words until the continue key."""
    _await_key(lab, script, _fill(script, page, **values), keys=(script.config.continue_key,))


def practise_keys(lab: Lab, script: Script) -> None:
    """Ask for each response key a few times, in random order, until each was pressed so often."""
    key_map, config = script.plan.key_map, script.config
    asked = [key_map.same, key_map.different] * config.n_key_practice
    identity = script.plan.identity
    rng = spawn_rng(
        0, f"{identity.participant_id}\n{identity.session}", purpose="key practice order"
    )
    for k in rng.permutation(len(asked)):
        page: PageName = "press_same" if asked[k] == key_map.same else "press_different"
        while not _try_key(lab, script, page=page, wanted=asked[k]):
            pass


def fill_page(
    words: Instructions,
    plan: SessionPlan,
    *,
    page: PageName,
    config: SessionConfig,
    values: Mapping[str, object],
) -> str:
    """Return the words of a page; `values` are what only the moment knows, such as the block."""
    known: dict[str, object] = {
        "same_key": words.name_key(plan.key_map.same),
        "different_key": words.name_key(plan.key_map.different),
        "continue_key": words.name_key(config.continue_key),
        "n_trials": min(sum(trial.is_practice for trial in plan.trials), config.n_practice),
        "block": "",
        "n_blocks": plan.n_blocks,
        "percent_correct": "",
    }
    return words.fill(page, {**known, **values})


def _try_key(lab: Lab, script: Script, *, page: PageName, wanted: str) -> bool:
    keys = (script.plan.key_map.same, script.plan.key_map.different)
    press = _await_key(lab, script, _fill(script, page), keys=keys, simulated_key=wanted)
    is_right = press.key == wanted
    _show_for(lab, _fill(script, "key_right" if is_right else "key_wrong"), script)
    return is_right


def _introduce(lab: Lab, script: Script, *, is_resumed: bool) -> None:
    pages: tuple[PageName, ...] = ("resume",) if is_resumed else ("welcome", "keys")
    for page in pages:
        show_page(lab, script, page)
    practise_keys(lab, script)


def _run_trials(lab: Lab, script: Script, recorder: Recorder) -> None:
    block: int | None = None
    while (planned := choose_next(script.plan, recorder.done, config=script.config)) is not None:
        if planned.block != block:
            _announce_block(lab, script, recorder=recorder, before=block, block=planned.block)
            block = planned.block
        record = run_trial(
            lab,
            planned,
            pictures=script.find_pictures(planned),
            fixation=script.find_fixation(planned),
            key_map=script.plan.key_map,
            config=script.config,
        )
        recorder.record(planned, record)
        script.on_trial()
        if record.interruption is not None:
            raise record.interruption
        _give_feedback(lab, script, planned=planned, record=record)


def _announce_block(
    lab: Lab, script: Script, *, recorder: Recorder, before: int | None, block: int
) -> None:
    """Show the break after a block, then the page before the next."""
    if before:
        percent = percent_correct(script.plan, recorder, block=before)
        show_page(lab, script, "break", block=before, percent_correct=percent)
    if block == 0:
        show_page(lab, script, "practice")
    else:
        show_page(lab, script, "block", block=block)


def percent_correct(plan: SessionPlan, recorder: Recorder, *, block: int) -> int:
    """Return the share of a block's presentations answered correctly, in whole per cent."""
    positions = {trial.position for trial in plan.trials if trial.block == block}
    outcomes = [d.outcome for d in recorder.done if d.position in positions]
    counted = [outcome for outcome in outcomes if outcome not in {"aborted", "gaze_break"}]
    return round(100 * counted.count("correct") / len(counted)) if counted else 0


def _give_feedback(lab: Lab, script: Script, *, planned: PlannedTrial, record: TrialRecord) -> None:
    if record.outcome in script.config.tone_outcomes:
        lab.stage.play_tone()
    page = _FEEDBACK.get(record.outcome)
    if page is not None and (planned.is_practice or record.outcome == "gaze_break"):
        _show_for(lab, _fill(script, page), script)


def _show_for(lab: Lab, text: str, script: Script) -> None:
    for _ in range(lab.count_frames(script.config.feedback_s)):
        lab.stage.draw_text(text)
        lab.flip()


def _await_key(
    lab: Lab,
    script: Script,
    text: str,
    *,
    keys: tuple[str, ...],
    simulated_key: str | None = None,
) -> Press:
    """Show words until one of `keys` is pressed anew."""
    lab.keys.poll()
    lab.keys.find_held(keys)
    lab.keys.device.notice_page(simulated_key or keys[0])
    while True:
        lab.stage.draw_text(text)
        lab.flip()
        for press in lab.keys.poll():
            if press.key == script.config.quit_key:
                raise SessionAborted("quit key")
            if press.key in keys:
                return press


def _fill(script: Script, page: PageName, **values: object) -> str:
    return fill_page(script.words, script.plan, page=page, config=script.config, values=values)
