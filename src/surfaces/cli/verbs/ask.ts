// `errand ask`: gives an agent one goal, runs it here, and prints its text. Its progress is in the ledger: after a crash, the same
// command with the same key continues it.

import { Notifier } from '../../../core/notifier.ts'
import type { Engine } from '../../../engine/engine-api.ts'
import type { TaskEvent } from '../../../entities/event.ts'
import { isSettled, type Task } from '../../../entities/task.ts'
import { isActive, openSubtasks, openTasks, waitUntilIdle } from '../../../plans/idle.ts'
import { knownRound } from '../../../plans/round.ts'
import { createQuestionLine, hasQuestion, promptAt, type QuestionLine } from '../../terminal/answer-prompt.ts'
import { AnswerStream } from '../../terminal/answer-stream.ts'
import { type FlagsOf, misuse, texts } from '../../terminal/arguments.ts'
import { modelFailure } from '../../terminal/event-fields.ts'
import { exitCodes } from '../../terminal/exit-code.ts'
import { type CommandIo, isLiveTerminal, note, printJson } from '../../terminal/io.ts'
import { linesOf } from '../../terminal/round-log.ts'
import { RoundRows, rowLabel } from '../../terminal/round-rows.ts'
import { shellCommand } from '../../terminal/shell-quote.ts'
import { StopListener } from '../../terminal/stop-listener.ts'
import { taskLabel, taskNumber } from '../../terminal/task-labels.ts'
import { ledgerFlagOf } from '../ledger-path.ts'
import { agentOptions, agentOptionsHelp, readyAgents, requireModel } from '../model-source.ts'
import { openEngine } from '../open-ledger.ts'
import { argumentOrInput } from '../read-input.ts'
import { helpNotes } from '../run-summary.ts'
import { followStream } from '../stream-position.ts'
import { defineVerb } from '../verb.ts'

const options = { ...agentOptions, ...texts('system', 'allow', 'key') }

export const ask = defineVerb({
  usage:
    'ask [GOAL] --model SPEC [--system TEXT] [--allow LIST] [--files DIR] [--mcp COMMAND]… [--max-iterations N] [--key K]',
  help: [
    'Gives an agent a goal and runs it here. Streams its text to stdout, and its calls to stderr. Without GOAL, reads it from stdin.',
    'The agent can create subtasks, wait for them, and ask you. Answer questions at the terminal; without one the exit code is 3 and "errand answer" answers.',
    agentOptionsHelp,
    '  --system TEXT  the system prompt of the agent',
    '  --allow LIST   the abilities that its model may call: --allow fs:*,task:list; default: all',
    '  --key K        with the same key, a later call continues the task or prints its answer again; a failed task gets a new attempt',
    '  --json         print the items of its stream, one per line',
    'It also works on the open tasks of other agents in the same ledger.',
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
  if (ids.includes('')) throw misuse(`--allow takes abilities separated by commas, like fs:*,task:list, got "${text}".`)
  return ids
}

async function workOn(io: CommandIo, engine: Engine, task: Task, flags: AskFlags): Promise<number> {
  const stop = new StopListener(io)
  const bell = new Notifier()
  const view = new RoundRows({ byPath: new Map() }, knownRound([]))
  view.follow(task)
  for (const each of await openSubtasks(engine, [task])) view.adopt(each)
  const answers = new AnswerStream({
    text(piece) {
      line?.clear()
      io.stdout.write(piece)
    },
    note(text) {
      line?.clear()
      note(io, `· ${text}`)
    },
  })
  const unsubscribe = engine.subscribe('*', (event) => {
    noteEvent(event, view, task, flags.json ? undefined : answers)
    bell.notify()
  })
  const line = questionLine(io, engine, view, answers)
  stop.beforeExit = () => line?.end()
  const stream = followStream(engine, task.id, 0, (item) => (flags.json ? printJson(io, item) : answers.take(item)))
  try {
    await engine.work()
    await waitUntilIdle({
      engine,
      bell,
      signal: stop.signal,
      async isActive() {
        const open = await openTasks(engine, [task.id])
        return (await isActive(engine, open)) || (line !== undefined && (await hasQuestion(engine, view, open)))
      },
    })
    if (!stop.signal.aborted) await stream.caughtUp()
    answers.end()
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

/** Notes events that are not in the stream of the task: failures of its model, and changes of its subtasks. */
function noteEvent(event: TaskEvent, view: RoundRows, { id }: Task, answers: AnswerStream | undefined): void {
  const row = view.apply(event)
  if (row === undefined || answers === undefined) return
  if (event.taskId !== id) for (const line of linesOf(event, row)) answers.note(`${rowLabel(row, row.name)}: ${line}`)
  else if (event.type === 'model.failed') answers.note(modelFailure(event))
}

/** Returns undefined without a terminal. */
function questionLine(io: CommandIo, engine: Engine, view: RoundRows, answers: AnswerStream): QuestionLine | undefined {
  const prompt = isLiveTerminal({ ...io, stdout: io.stderr }) ? promptAt(io, engine) : undefined
  return prompt && createQuestionLine(io, view, prompt, () => answers.atLineStart)
}

async function released(io: CommandIo, engine: Engine, task: Task, flags: AskFlags): Promise<number> {
  const continuation =
    flags.key === undefined
      ? 'the next "errand ask" or "errand chat", or an "errand serve" with a model, continues it'
      : 'the same command continues it'
  note(
    io,
    `Stopping: ${taskLabel(task)} stays open, ${continuation}; "${shellCommand('errand', 'cancel', taskNumber(task), ...ledgerFlagOf(flags))}" cancels it.`,
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
  for (const text of helpNotes(resting, ledgerFlagOf(flags))) note(io, text)
  return exitCodes.open
}
