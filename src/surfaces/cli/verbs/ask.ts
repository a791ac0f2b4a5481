// `errand ask`: gives an agent one goal, works on it here, and passes on what it says. What it has done stands on the ledger: killed
// and called again with the same key, it goes on where it was.

import { Notifier } from '../../../core/notifier.ts'
import type { Engine } from '../../../engine-api.ts'
import type { TaskEvent } from '../../../entities/event.ts'
import { isSettled, type Task } from '../../../entities/task.ts'
import { isActive, openSubtasks, openTasks, waitUntilIdle } from '../../../plans/idle.ts'
import { knownRound } from '../../../plans/round.ts'
import { createQuestionLine, promptAt, type QuestionLine } from '../../../terminal/answer-prompt.ts'
import { AnswerStream } from '../../../terminal/answer-stream.ts'
import { type FlagsOf, misuse, texts } from '../../../terminal/arguments.ts'
import { modelFailure } from '../../../terminal/event-fields.ts'
import { exitCodes } from '../../../terminal/exit-code.ts'
import { type CommandIo, isLiveTerminal, note, printJson } from '../../../terminal/io.ts'
import { linesOf } from '../../../terminal/round-log.ts'
import { RoundView } from '../../../terminal/round-view.ts'
import { shellCommand } from '../../../terminal/shell-quote.ts'
import { StopListener } from '../../../terminal/stop-listener.ts'
import { shortId, taskLabel } from '../../../terminal/task-labels.ts'
import { ledgerFlagOf } from '../ledger-path.ts'
import { agentOptions, agentOptionsHelp, readyAgents, requireModel } from '../model-source.ts'
import { openEngine } from '../open-ledger.ts'
import { argumentOrInput } from '../read-input.ts'
import { restNotes } from '../run-summary.ts'
import { followStream } from '../stream-position.ts'
import { defineVerb } from '../verb.ts'

const options = { ...agentOptions, ...texts('system', 'allow', 'key') }

export const ask = defineVerb({
  usage: 'ask [GOAL] --model SPEC [--system TEXT] [--allow LIST] [--files DIR] [--max-iterations N] [--key K]',
  help: [
    'Gives an agent a goal and works on it here. Its text goes to stdout as it comes, what it does to stderr. Without GOAL it is read from stdin.',
    'The agent can make subtasks and wait for them, and ask you. Questions are answered at the terminal; where there is none, the exit code is 3 and "errand answer" answers.',
    agentOptionsHelp,
    '  --system TEXT  what the agent is told first',
    '  --allow LIST   what its model may call, as abilities: --allow fs:*,task:list; default everything that there is',
    '  --key K        called again with the same key it goes on, or tells the answer again; a failed one gets a new attempt',
    '  --json         the items of its stream, one a line',
    'Agents that another call left behind on the same ledger are worked on as well.',
  ].join('\n'),
  options,
  positionals: { max: 1 },
  async run(io, { values, positionals: [given] }) {
    const agents = await readyAgents(io, values, requireModel(io, values))
    const abilities = abilityList(values.allow)
    const goal = await argumentOrInput(io, given, 'The goal')
    const engine = await openEngine(io, values, { work: false, ...agents })
    try {
      const task = await engine.create({ goal, systemPrompt: values.system, abilities, key: values.key })
      return await workOn(io, engine, task.status === 'failed' ? await engine.retry(task.id) : task, values)
    } finally {
      await engine.close()
    }
  },
})

type AskFlags = FlagsOf<typeof options>

export function abilityList(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined
  const ids = text.split(',').map((id) => id.trim())
  if (ids.includes(''))
    throw misuse(`--allow takes abilities with commas between them, like fs:*,task:list, got "${text}".`)
  return ids
}

async function workOn(io: CommandIo, engine: Engine, task: Task, flags: AskFlags): Promise<number> {
  const stop = new StopListener(io)
  const bell = new Notifier()
  const view = new RoundView({ byPath: new Map() }, knownRound([]))
  view.follow(task)
  for (const each of await openSubtasks(engine, [task])) view.adopt(each)
  const told = new AnswerStream({
    text(piece) {
      line?.clear()
      io.stdout.write(piece)
    },
    note(words) {
      line?.clear()
      note(io, `· ${words}`)
    },
  })
  const unsubscribe = engine.subscribe('*', (event) => {
    tell(event, view, task, flags.json ? undefined : told)
    bell.notify()
  })
  const line = questionLine(io, engine, view, told)
  stop.beforeExit = () => line?.end()
  const stream = followStream(engine, task.id, 0, (item) => (flags.json ? printJson(io, item) : told.take(item)))
  try {
    await engine.work()
    await waitUntilIdle({
      engine,
      bell,
      signal: stop.signal,
      async isActive() {
        if (await isActive(engine, await openTasks(engine, [task.id]))) return true
        return line !== undefined && (await hasQuestion(engine, task, view))
      },
    })
    if (!stop.signal.aborted) await stream.caughtUp()
    told.end()
    line?.end()
    if (stop.signal.aborted) return await released(io, engine, task, flags)
    return await conclude(io, engine, task, flags)
  } finally {
    line?.end()
    unsubscribe()
    await stream.end()
    stop.end()
  }
}

/** Somebody at the terminal is asked something. A task may ask several things; the feed told of each only once. */
async function hasQuestion(engine: Engine, { id }: Task, view: RoundView): Promise<boolean> {
  const task = await engine.get(id)
  if (task !== null) view.refresh([task, ...(await openSubtasks(engine, [task]))])
  return view.rows.some((row) => row.question !== null)
}

/** What the stream of the task itself does not tell: its model's failures, and what becomes of its subtasks. */
function tell(event: TaskEvent, view: RoundView, { id }: Task, told: AnswerStream | undefined): void {
  const row = view.apply(event)
  if (row === undefined || told === undefined) return
  if (event.taskId !== id) for (const line of linesOf(event, row)) told.note(`${row.name}: ${line}`)
  else if (event.type === 'model.failed') told.note(modelFailure(event))
}

/** Undefined when nobody sits there who could answer. */
function questionLine(io: CommandIo, engine: Engine, view: RoundView, told: AnswerStream): QuestionLine | undefined {
  const prompt = isLiveTerminal({ ...io, stdout: io.stderr }) ? promptAt(io, engine) : undefined
  return prompt && createQuestionLine(io, view, prompt, () => told.atLineStart)
}

async function released(io: CommandIo, engine: Engine, task: Task, flags: AskFlags): Promise<number> {
  const goOn =
    flags.key === undefined
      ? 'the next "errand ask" or "errand chat", or an "errand serve" with a model, goes on with it'
      : 'the same command goes on with it'
  note(
    io,
    `Stopping: ${taskLabel(task)} stays open, ${goOn}; "${shellCommand('errand', 'cancel', shortId(task.id), ...ledgerFlagOf(flags))}" drops it.`,
  )
  await engine.close()
  return exitCodes.interrupted
}

async function conclude(io: CommandIo, engine: Engine, { id }: Task, flags: AskFlags): Promise<number> {
  const task = await engine.get(id)
  if (task === null) return exitCodes.failed
  if (task.status === 'completed') return exitCodes.done
  if (isSettled(task.status)) return exitCodes.failed
  const resting = [task, ...(await openSubtasks(engine, [task]))]
  for (const words of restNotes(resting, ledgerFlagOf(flags))) note(io, words)
  return exitCodes.open
}
