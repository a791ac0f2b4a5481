// `errand run`: brings a plan to its end, or goes on with it. Killed at any moment and called again, it goes on where
// the ledger stands. The steps are here in their order; each lives in a file of its own.
import type { Engine, EngineOptions } from '../../../api.ts'
import { systemClock } from '../../../clock.ts'
import { isSettled, type Task } from '../../../entities/task.ts'
import { createRandomIds } from '../../../ids.ts'
import { messageOf } from '../../../stored-error.ts'
import { AnswerPrompt } from '../answer-prompt.ts'
import { Bell } from '../bell.ts'
import { decisionJson, describeDecisions } from '../dry-run.ts'
import { formatDuration } from '../duration.ts'
import { endCommands } from '../end-commands.ts'
import { exitCodes } from '../exit-code.ts'
import { type FollowOptions, followRound, RoundFeed, tasksOf } from '../follow-round.ts'
import { modelsOf } from '../goal-tasks.ts'
import { openSubtasks } from '../going-on.ts'
import { HeldNotes } from '../held-notes.ts'
import { type CommandIo, hasColor, isLiveTerminal, note, print, printItems, printPainted } from '../io.ts'
import { createJsonLines } from '../json-lines.ts'
import { LedgerFile } from '../ledger-file.ts'
import { isLedgerFile, ledgerExists, ledgerFlagOf, makeLedgerFolder } from '../ledger-path.ts'
import { createLiveTree } from '../live-tree.ts'
import { agentFacilities, agentOptionsHelp, ModelSource } from '../model-source.ts'
import { createPaint } from '../paint.ts'
import { createPlainLines } from '../plain-lines.ts'
import { flatten, lastOf } from '../plan.ts'
import { type Decision, decide, type KnownRound, knownRound, leftovers } from '../plan-round.ts'
import { prepareRound, readRound } from '../prepare-round.ts'
import type { Reporter } from '../reporter.ts'
import { requireModels } from '../round-models.ts'
import { goalNotes, notesOn } from '../round-notes.ts'
import { chooseRound, type RunFlags, type RunPlan, readRunRequest, runOptions } from '../run-request.ts'
import { lastWords, summarize } from '../run-summary.ts'
import { RunView } from '../run-view.ts'
import { StopListener } from '../stop-listener.ts'
import { cleanLine } from '../terminal-text.ts'
import { defineVerb } from '../verb.ts'
import { judgeRound } from '../verdict.ts'

/** How long a question with a default waits for somebody at the terminal; elsewhere nobody is there to answer. */
const defaultAfterMs = { terminal: 30_000, elsewhere: 0 }

export const verb = defineVerb({
  usage:
    'run PLAN [TARGET…] [--concurrency N] [--redo NAME]… [--again | --key K] [--dry-run] [--model SPEC] [--files DIR]',
  help: [
    'Runs a plan (YAML or JSON) to its end, or goes on with it. With targets only these run, and what they come after.',
    'Run again: completed and canceled tasks stay, failed ones get a new attempt by the present definition.',
    '  --redo NAME    run this completed task anew',
    '  --again        a new round of the whole plan',
    '  --key K        the round of this name, new or begun: --key "$(date +%F)" runs a plan once a day',
    '  --concurrency  how many tasks may run at once',
    '  --dry-run      say what would be done, and do nothing',
    '  --json         the events of the run, one a line',
    'Tasks with a `goal` are worked on by an agent:',
    agentOptionsHelp,
    'A plan can say so itself: `model`, `files` and `maxIterations` at its top (--model goes before), `model`, `system` and',
    '`abilities` on a task (its own goes before all). A goal without any model waits for one.',
  ].join('\n'),
  options: runOptions,
  positionals: { min: 1 },
  async run(io, { values, positionals }) {
    const request = await readRunRequest(io, positionals, values)
    return values['dry-run'] ? await dryRun(io, request, values) : await runPlan(io, request, values)
  },
})

async function dryRun(io: CommandIo, request: RunPlan, flags: RunFlags): Promise<number> {
  const known = await peek(request, flags)
  const decisions = decide(request.plan, known, request)
  printItems(io, flags, decisions.map(decisionJson), describeDecisions(decisions))
  return exitCodes.done
}

/** What the ledger has of the round; a ledger that is not there is not made. */
async function peek(request: RunPlan, flags: RunFlags): Promise<KnownRound> {
  if (!isLedgerFile(request.ledger) || !ledgerExists(request.ledger)) return knownRound([])
  const { createEngine } = await import('../../../index.ts')
  const engine: Engine = await createEngine({ ledger: request.ledger, work: false })
  try {
    return await readRound(engine, await chooseRound(request, flags, engine))
  } finally {
    await engine.close()
  }
}

async function runPlan(io: CommandIo, request: RunPlan, flags: RunFlags): Promise<number> {
  const facilities = await agentFacilities(io, flags, request.plan)
  makeLedgerFolder(request.ledger)
  const { openLedger } = await import('../../../ledger/open-ledger.ts')
  // Not the engine's own, so that it can still be read while the engine closes.
  const ledger = await openLedger(request.ledger)
  try {
    const file = new LedgerFile(request.ledger)
    const conclude = await runRound(io, request, flags, { ...facilities, ledger })
    file.requireSame()
    return conclude()
  } finally {
    await ledger.close()
  }
}

/** An open ledger, and what agents get. */
type Facilities = Pick<EngineOptions, 'ledger' | 'abilities' | 'maxIterations'>

/** Resolves to what says how the round ended, and gives the exit code. */
async function runRound(
  io: CommandIo,
  request: RunPlan,
  flags: RunFlags,
  facilities: Facilities,
): Promise<() => number> {
  const stop = new StopListener(io)
  const notes = new HeldNotes(io)
  const bell = new Bell()
  const models = modelsFor(io, request, (text) => notes.add(text))
  const engine = await openEngine(io, request, facilities, models, (error) => {
    notes.add(`errand: ${messageOf(error)}`)
    bell.ring()
  })
  stop.endCommands = () => endCommands(engine)
  const feed = new RoundFeed(engine)
  try {
    const round = await chooseRound(request, flags, engine)
    const startedAt = systemClock.now()
    await requireModels(request, await readRound(engine, round), models)
    const invocation = createRandomIds().next('run')
    const { decisions, known } = await prepareRound(engine, { ...request, round, invocation })
    for (const line of notesOn(decisions, leftovers(request.plan, known), ledgerFlagOf(flags))) notes.add(line)
    for (const line of goalNotes(request, known)) notes.add(line)
    const work = needsWork(known) && !stop.signal.aborted
    if (work) {
      const view = new RunView(request.plan, known)
      for (const task of await openSubtasks(engine, tasksOf(known))) view.adopt(task)
      const reporter = createReporter(io, engine, view, flags)
      await watch({ engine, round, feed, view, reporter, bell, signal: stop.signal }, stop, notes)
    }
    if (stop.signal.aborted) return await drain(io, engine)
    const ending: Ending = {
      ...(await finalState(engine, round)),
      before: new Set(decisions.flatMap(completedBefore)),
      duration: work ? formatDuration(systemClock.now() - startedAt) : undefined,
    }
    return () => conclude(io, request, flags, ending)
  } finally {
    feed.close()
    await engine.close()
    stop.end()
  }
}

/** Lets the engine work and tells what happens, until the round is quiet or the user wants to stop. */
async function watch(options: FollowOptions, stop: StopListener, notes: HeldNotes): Promise<void> {
  const { engine, reporter } = options
  stop.beforeExit = () => reporter.end()
  if (reporter.ownsScreen) notes.hold()
  try {
    await engine.work()
    await followRound(options)
  } finally {
    reporter.end()
    stop.beforeExit = () => {}
    notes.release()
  }
}

/** The round as it stands, and what its agents have given away and is still open. */
async function finalState(engine: Engine, round: string): Promise<Pick<Ending, 'known' | 'subtasks'>> {
  const known = await readRound(engine, round)
  return { known, subtasks: await openSubtasks(engine, tasksOf(known)) }
}

function modelsFor(io: CommandIo, { plan, model }: RunPlan, note: (text: string) => void): ModelSource {
  const own = modelsOf(flatten(plan.tasks), undefined)
  const named = plan.model === undefined ? own : [...own, plan.model]
  return new ModelSource(io, { defaultModel: model, named: { models: named, folder: plan.folder }, note })
}

async function openEngine(
  io: CommandIo,
  request: RunPlan,
  facilities: Facilities,
  models: ModelSource,
  onError: (error: unknown) => void,
): Promise<Engine> {
  const [{ createEngine }, { createShell }, { createAsk }] = await Promise.all([
    import('../../../index.ts'),
    import('../../../executors/shell.ts'),
    import('../../../executors/ask.ts'),
  ])
  return await createEngine({
    ...facilities,
    ...models.engineOptions,
    work: false,
    maxConcurrent: request.maxConcurrent,
    executors: {
      shell: createShell(isLedgerFile(request.ledger) ? { ledger: request.ledger } : {}),
      ask: createAsk({ defaultAfterMs: isLiveTerminal(io) ? defaultAfterMs.terminal : defaultAfterMs.elsewhere }),
    },
    onError,
  })
}

function createReporter(io: CommandIo, engine: Engine, view: RunView, flags: RunFlags): Reporter {
  if (flags.json) return createJsonLines(io)
  return isLiveTerminal(io)
    ? createLiveTree(io, view, { prompt: createPrompt(io, engine) })
    : createPlainLines(io, view)
}

function createPrompt(io: CommandIo, engine: Engine): AnswerPrompt | undefined {
  const { keyboard } = io
  if (keyboard === undefined) return undefined
  return new AnswerPrompt({
    keyboard,
    answer: (taskId, question, value) => engine.answer(taskId, value, { question }),
    interrupt: () => io.interrupt(),
  })
}

/** Something of the plan is not settled: even what only waits for an answer may have been answered by now. */
function needsWork(known: KnownRound): boolean {
  return tasksOf(known).some((task) => !task.group && !isSettled(task.status))
}

function completedBefore({ known, action }: Decision): string[] {
  return known?.task.status === 'completed' && action === 'keep' ? [known.task.id] : []
}

async function drain(io: CommandIo, engine: Engine): Promise<() => number> {
  note(io, 'Stopping: what runs is let go, and the next run goes on with it. Once more to stop at once.')
  await engine.close()
  return () => exitCodes.interrupted
}

interface Ending {
  known: KnownRound
  subtasks: Task[]
  /** Ids of the tasks that were completed before. */
  before: ReadonlySet<string>
  /** Undefined when there was nothing to do. */
  duration: string | undefined
}

function conclude(io: CommandIo, request: RunPlan, flags: RunFlags, ending: Ending): number {
  const verdict = judgeRound(request.plan, ending.known, request.needed, ending.subtasks)
  const say = flags.json ? note : printPainted
  if (!flags.json) print(io, resultsOf(io, request, ending))
  const paint = createPaint(!flags.json && hasColor(io))
  for (const line of summarize(verdict, { paint, ledgerFlag: ledgerFlagOf(flags), ...ending })) say(io, line)
  return verdict.code
}

/** A plan that ends in more tasks than this has no last words: they would be a list of everything. */
const mostLastTasks = 3

/** What the plan's last tasks printed, unless it stands in the lines above already. */
function resultsOf(io: CommandIo, { plan }: RunPlan, { known, before }: Ending): string[] {
  const last = lastOf(plan.tasks)
  if (last.length > mostLastTasks) return []
  return last.flatMap(({ path }) => {
    const task = known.newest.get(path)?.task
    if (task?.status !== 'completed' || !(isLiveTerminal(io) || before.has(task.id))) return []
    return lastWords(task).map((line) => `${cleanLine(path)} | ${line}`)
  })
}
