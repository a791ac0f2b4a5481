// `errand add`: one task from the command line. It runs wherever an engine with its executor works on the ledger.
import type { CreateOptions } from '../../../api.ts'
import { systemClock } from '../../../clock.ts'
import { misuse, wholeNumber } from '../arguments.ts'
import { parseDuration } from '../duration.ts'
import { exitCodes } from '../exit-code.ts'
import { type CommandIo, print, printJson } from '../io.ts'
import { withLedger } from '../open-ledger.ts'
import { findTask } from '../task-ref.ts'
import { defineVerb } from '../verb.ts'

export const addVerb = defineVerb({
  usage: 'add [NAME] [--run CMD | --executor X [--input JSON]]',
  help: [
    'Creates a task and prints its id. With --run it is a shell command, to be run here; without an executor it is worked on from outside.',
    '  --after ID       only after this task has completed; may be given several times',
    '  --parent ID      inside this task',
    '  --priority N     higher runs first',
    '  --key K          the same key returns the first task instead of making a second one',
    '  --not-before T   an ISO time, or how long from now: 90s, 5m, 2h',
  ].join('\n'),
  options: {
    name: { type: 'string' },
    run: { type: 'string' },
    executor: { type: 'string' },
    input: { type: 'string' },
    priority: { type: 'string' },
    after: { type: 'string', multiple: true },
    key: { type: 'string' },
    parent: { type: 'string' },
    description: { type: 'string' },
    'not-before': { type: 'string' },
  },
  positionals: { max: 1 },
  async run(io, { values, positionals: [name] }) {
    const work = workOf(io, values)
    const fields = fieldsOf(values, name ?? values.name)
    return await withLedger(
      io,
      values,
      async (engine) => {
        const blockedBy = await Promise.all((values.after ?? []).map(async (ref) => (await findTask(engine, ref)).id))
        const parentId = values.parent === undefined ? undefined : (await findTask(engine, values.parent)).id
        const [task] = await engine.create([
          {
            ...fields,
            ...work,
            ...(blockedBy.length === 0 ? {} : { blockedBy }),
            ...(parentId === undefined ? {} : { parentId }),
          },
        ])
        if (values.json) printJson(io, task)
        else print(io, task?.id ?? '')
        return exitCodes.done
      },
      { create: true },
    )
  },
})

interface AddFlags {
  run?: string | undefined
  executor?: string | undefined
  input?: string | undefined
  priority?: string | undefined
  key?: string | undefined
  description?: string | undefined
  'not-before'?: string | undefined
}

/** What the task does. */
function workOf(io: CommandIo, { run, executor, input }: AddFlags): { executor?: string; input?: unknown } {
  if (run !== undefined && executor !== undefined)
    throw misuse('--run is the executor shell; give either --run or --executor.')
  if (run !== undefined && input !== undefined)
    throw misuse('--input goes with --executor; a command given with --run has none.')
  if (run !== undefined) return { executor: 'shell', input: { run, cwd: io.cwd } }
  if (executor === undefined && input !== undefined)
    throw misuse('--input needs --executor: without one nobody would read it.')
  return {
    ...(executor === undefined ? {} : { executor }),
    ...(input === undefined ? {} : { input: parseInput(input) }),
  }
}

function fieldsOf(flags: AddFlags, name: string | undefined): CreateOptions {
  if (name === undefined && flags.run === undefined && flags.executor === undefined) {
    throw misuse(
      'A task needs a name, a command (--run) or an executor (--executor). Usage: errand add [NAME] [--run CMD | --executor X]',
    )
  }
  const { priority, key, description, 'not-before': notBefore } = flags
  return {
    ...(name === undefined ? {} : { name }),
    ...(priority === undefined ? {} : { priority: wholeNumber('priority', priority, Number.MIN_SAFE_INTEGER) }),
    ...(key === undefined ? {} : { key }),
    ...(description === undefined ? {} : { description }),
    ...(notBefore === undefined ? {} : { notBefore: parseTime(notBefore) }),
  }
}

function parseInput(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw misuse(
      `--input takes JSON, like '{"run": "make"}': ${error instanceof Error ? error.message : String(error)}.`,
      { input: text },
    )
  }
}

function parseTime(text: string): number {
  const durationMs = parseDuration(text)
  const at = durationMs === undefined ? Date.parse(text) : systemClock.now() + durationMs
  if (Number.isFinite(at)) return at
  throw misuse(`--not-before takes a time like 2030-01-31T08:00:00Z, or a duration like 5m, got "${text}".`, {
    value: text,
  })
}
