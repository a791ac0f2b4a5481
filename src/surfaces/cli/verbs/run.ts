// `errand run`: runs a plan to its end, or continues it. Killed at any moment and called again, it continues from the ledger.
import { systemClock } from '../../../core/clock.ts'
import { formatDuration } from '../../../core/duration.ts'
import { Notifier } from '../../../core/notifier.ts'
import { messageOf } from '../../../core/stored-error.ts'
import type { Engine, EngineOptions } from '../../../engine/engine-api.ts'
import type { Task } from '../../../entities/task.ts'
import { openLedger } from '../../../ledger/open-ledger.ts'
import { type Decision, decide, leftovers } from '../../../plans/decide-round.ts'
import { type FollowOptions, followRound, RoundFeed, roundOutcome } from '../../../plans/follow-round.ts'
import { openSubtasks } from '../../../plans/idle.ts'
import { lastOf } from '../../../plans/plan.ts'
import { preparePlan } from '../../../plans/prepare-round.ts'
import {
  chooseRound,
  isOfRound,
  type KnownRound,
  knownRound,
  openWork,
  planKey,
  readRound,
  tasksOf,
  treesOf,
} from '../../../plans/round.ts'
import { hasQuestion, promptAt } from '../../terminal/answer-prompt.ts'
import { cliCaller } from '../../terminal/caller.ts'
import { exitCodes } from '../../terminal/exit-code.ts'
import { type CommandIo, hasColor, isLiveTerminal, note, print, printItems, printPainted } from '../../terminal/io.ts'
import { createLiveView } from '../../terminal/live-view.ts'
import { createPaint } from '../../terminal/paint.ts'
import { createJsonLines, createPlainLines } from '../../terminal/round-log.ts'
import { observing, type Reporter, RoundRows } from '../../terminal/round-rows.ts'
import { StopListener } from '../../terminal/stop-listener.ts'
import { endCommands } from '../end-commands.ts'
import { goalNotes, modelsOf, requireModels } from '../goal-models.ts'
import { ledgerExists, ledgerFlagOf, prepareLedger } from '../ledger-path.ts'
import { followServers } from '../mcp-servers.ts'
import { agentOptionsHelp, agentsFor } from '../model-source.ts'
import { withLedger } from '../open-ledger.ts'
import { decisionJson, describeDecisions, notesOn } from '../round-decisions.ts'
import { type RunFlags, type RunPlan, readRunRequest, runOptions } from '../run-request.ts'
import { lastLines, planLabel, type SummaryOptions, summarize } from '../run-summary.ts'
import { defineVerb } from '../verb.ts'
import { planExecutors } from '../working-options.ts'

/** How long the prompt waits for a key before it takes the default of a question. */
const defaultAfterMs = 30_000

export const run = defineVerb({
  usage:
    'run PLAN [TARGET…] [--concurrency N] [--redo NAME]… [--again | --key K] [--dry-run] [--model SPEC] [--files DIR] [--mcp COMMAND]…',
  help: [
    'Runs a plan (YAML or JSON) to its end, or continues it. With targets, runs only these tasks and the tasks that they depend on.',
    'When a plan runs again, completed and canceled tasks stay as they are. Failed tasks are tried again, as the plan defines them now.',
    '  --redo NAME    run this completed task again',
    '  --again        run the whole plan again from its beginning, with new tasks',
    '  --key K        start or continue the run of the plan with this name: --key "$(date +%F)" runs a plan once a day',
    '  --concurrency  how many tasks may run at once',
    '  --dry-run      only print what would be done',
    '  --json         print the events of the run, one per line',
    'An agent works on tasks with a `goal`:',
    agentOptionsHelp,
    'A plan can set these itself: `model`, `files` and `maxIterations` at its top (--model overrides it), `model`, `system` and',
    '`abilities` on a task (these override all others). Without a model, a task with a goal waits for one.',
  ].join('\n'),
  options: runOptions,
  positionals: { min: 1 },
  async run(io, { values, positionals }) {
    const request = await readRunRequest(io, positionals, values)
    return values['dry-run'] ? await dryRun(io, request, values) : await runPlan(io, request, values)
  },
})

async function dryRun(io: CommandIo, request: RunPlan, flags: RunFlags): Promise<number> {
  // A ledger that does not exist is not created.
  const known =
    request.ledger !== ':memory:' && ledgerExists(request.ledger)
      ? await withLedger(io, flags, async (engine) => readRound(engine, await roundOf(engine, request, flags)))
      : knownRound([])
  const decisions = decide(request.plan, known, request)
  printItems(io, flags, decisions.map(decisionJson), describeDecisions(decisions))
  return exitCodes.done
}

function roundOf(engine: Engine, { plan, realLedger }: RunPlan, flags: RunFlags): Promise<string> {
  return chooseRound(engine, planKey(plan, realLedger), flags)
}

async function runPlan(io: CommandIo, request: RunPlan, flags: RunFlags): Promise<number> {
  const notes = heldNotes(io)
  const { plan, model: defaultModel } = request
  const own = modelsOf(plan.byPath.values(), undefined)
  const named = { models: plan.model === undefined ? own : [...own, plan.model], folder: plan.folder }
  const agents = await agentsFor(io, flags, { defaultModel, named, ofPlan: plan, note: notes.add })
  prepareLedger(io, request.ledger, flags)
  // Opened here and not by the engine, so that it can still be read while the engine closes.
  const ledger = await openLedger(request.ledger)
  try {
    const conclude = await runRound(io, request, flags, { ...agents, ledger }, notes)
    return conclude()
  } finally {
    await ledger.close()
  }
}

const stopped = 'The engine has stopped in the middle of the run. Everything in the ledger is kept: run the plan again.'

/** Resolves to a function that prints how the round ended and returns the exit code. */
async function runRound(
  io: CommandIo,
  request: RunPlan,
  flags: RunFlags,
  options: EngineOptions,
  notes: HeldNotes,
): Promise<() => number> {
  const stop = new StopListener(io)
  const bell = new Notifier()
  const hasPrompt = !flags.json && isLiveTerminal(io) && io.keyboard !== undefined
  const engine = await openEngine(io, request, hasPrompt, options, (error) => {
    notes.add(`errand: ${messageOf(error)}`)
    bell.notify()
  })
  stop.endCommands = () => endCommands(engine)
  const feed = new RoundFeed(engine)
  try {
    const startedAt = systemClock.now()
    const { round, decisions, known } = await preparePlan(engine, {
      ...request,
      ledger: request.realLedger,
      key: flags.key,
      again: flags.again,
      beforeChange: (found) => requireModels(request, found, options.resolveModel),
    })
    for (const line of notesOn(decisions, leftovers(request.plan, known), ledgerFlagOf(flags))) notes.add(line)
    for (const line of goalNotes(request, known)) notes.add(line)
    let duration: string | undefined
    let last = known
    if (openWork(known).length > 0 && !stop.signal.aborted) {
      const view = new RoundRows(request.plan, known)
      for (const task of await openSubtasks(engine, tasksOf(known))) view.adopt(task)
      const reporter = createReporter(io, engine, view, flags)
      const runs = (task: Task) => isOfRound(engine, round, task)
      if (!hasPrompt) await answerWithDefaults(engine, tasksOf(known))
      const following = {
        engine,
        round,
        feed,
        observer: observing(view, reporter),
        bell,
        signal: stop.signal,
        runs,
        stopped,
        mayBeAnswered: hasPrompt ? (tasks: readonly Task[]) => hasQuestion(engine, view, tasks) : undefined,
      }
      last = (await watch(following, reporter, stop, notes)) ?? known
      duration = formatDuration(systemClock.now() - startedAt)
    }
    if (stop.signal.aborted) return await drain(io, engine)
    const before = new Set(decisions.flatMap(completedBefore))
    const ending: Ending = { known: last, subtasks: await openSubtasks(engine, tasksOf(last)), before, duration }
    return () => conclude(io, request, flags, ending)
  } finally {
    feed.close()
    await engine.close()
    stop.end()
  }
}

/** Notes on stderr. They are held back while the live tree is on the screen, which they would damage. */
function heldNotes(io: CommandIo) {
  let held: string[] | undefined
  return {
    add(text: string) {
      if (held === undefined) note(io, text)
      else held.push(text)
    },
    hold() {
      held = []
    },
    release() {
      for (const text of held ?? []) note(io, text)
      held = undefined
    },
  }
}

type HeldNotes = ReturnType<typeof heldNotes>

/** Starts the engine and reports events, until no task continues or the user stops it. */
async function watch(
  options: FollowOptions,
  reporter: Reporter,
  stop: StopListener,
  notes: HeldNotes,
): Promise<KnownRound | undefined> {
  const { engine, round } = options
  stop.beforeExit = () => reporter.end()
  if (reporter.ownsScreen) notes.hold()
  try {
    // Other tasks in the ledger may come from others, and are not what the user asked for.
    await engine.work({ only: treesOf(round) })
    return await followRound(options)
  } finally {
    reporter.end()
    stop.beforeExit = () => {}
    notes.release()
  }
}

/** Answers the questions that a prompt has left open: this run has none. */
async function answerWithDefaults(engine: Engine, tasks: readonly Task[]): Promise<void> {
  for (const { id: taskId, executor, questions } of tasks) {
    const [question] = executor === 'ask' ? questions : []
    if (question === undefined || !('default' in question) || question.dueAt !== null) continue
    await engine.bus.call('task:answer', { taskId, question: question.id }, cliCaller)
  }
}

async function openEngine(
  io: CommandIo,
  { ledger, maxConcurrent }: RunPlan,
  hasPrompt: boolean,
  options: EngineOptions,
  onError: (error: unknown) => void,
): Promise<Engine> {
  const { createEngine } = await import('../../../index.ts')
  const executors = await planExecutors(ledger, {
    // The commands of the plan have the environment of the user who starts them, like those of a makefile.
    inheritEnv: true,
    // A prompt counts the time itself, and stops at a key. Without one there is no person to wait for.
    defaultAfterMs: hasPrompt ? undefined : 0,
  })
  const engine = await createEngine({ ...options, work: false, maxConcurrent, executors, onError })
  followServers(io, engine)
  return engine
}

function createReporter(io: CommandIo, engine: Engine, view: RoundRows, flags: RunFlags): Reporter {
  if (flags.json) return createJsonLines(io)
  return isLiveTerminal(io)
    ? createLiveView(io, view, { prompt: promptAt(io, engine, { defaultAfterMs }) })
    : createPlainLines(io, view)
}

function completedBefore({ known, action }: Decision): string[] {
  return known?.task.status === 'completed' && action === 'keep' ? [known.task.id] : []
}

async function drain(io: CommandIo, engine: Engine): Promise<() => number> {
  note(io, 'Stopping: running tasks are released, and the next run continues them. Press Ctrl-C again to stop at once.')
  await engine.close()
  return () => exitCodes.interrupted
}

interface Ending extends Pick<SummaryOptions, 'before' | 'duration'> {
  known: KnownRound
  /** Open ones that its agents have created. */
  subtasks: Task[]
}

function conclude(io: CommandIo, request: RunPlan, flags: RunFlags, ending: Ending): number {
  const outcome = roundOutcome(request.plan, ending.known, request.needed, ending.subtasks)
  const say = flags.json ? note : printPainted
  if (!flags.json) print(io, resultsOf(io, request, ending))
  const paint = createPaint(!flags.json && hasColor(io))
  for (const line of summarize(outcome, { paint, ledgerFlag: ledgerFlagOf(flags), ...ending })) say(io, line)
  return exitCodes[outcome.status]
}

/** A plan that ends in more tasks than this prints no results at its end. */
const maxLastTasks = 3

/** The output of the plan's last tasks, unless it was already printed. */
function resultsOf(io: CommandIo, { plan }: RunPlan, { known, before }: Ending): string[] {
  const last = lastOf(plan.tasks)
  if (last.length > maxLastTasks) return []
  return last.flatMap(({ path }) => {
    const task = known.newest.get(path)?.task
    if (task?.status !== 'completed' || !(isLiveTerminal(io) || before.has(task.id))) return []
    return lastLines(task).map((line) => `${planLabel(task)} | ${line}`)
  })
}
