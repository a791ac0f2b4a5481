// `errand add`: one task from the command line. It runs wherever an engine with its executor works on the ledger.
import type { CreateOptions } from '../../../api.ts'
import { childFailurePolicies, dependencyFailurePolicies } from '../../../entities/task.ts'
import { misuse, oneOf, wholeNumber } from '../arguments.ts'
import { exitCodes } from '../exit-code.ts'
import { type CommandIo, print, printJson } from '../io.ts'
import { jsonOption } from '../json-option.ts'
import { withLedger } from '../open-ledger.ts'
import { findTask } from '../task-ref.ts'
import { timeOption } from '../time-options.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'add [NAME] [--run CMD | --executor X [--input JSON]]',
  help: [
    'Creates a task and prints its id. With --run it is a shell command, to be run here; without an executor it is worked on by whoever claims it ("errand claim").',
    '  --after ID       only after this task has completed; may be given several times',
    '  --parent ID      inside this task',
    '  --priority N     higher runs first',
    '  --key K          the same key returns the first task instead of making a second one',
    '  --not-before T   an ISO time, or how long from now: 90s, 5m, 2h',
    '  --deadline T     likewise: it fails unless it has settled by then',
    '  --role R         only claims of this role get it (without an executor)',
    '  --tag T          a word to claim and list by; may be given several times',
    '  --concurrency N  of its children so many may run at once',
    `  --on-child-failure P       what the failure of a child means for it: ${childFailurePolicies.join(', ')}; default ignore`,
    `  --on-dependency-failure P  what becomes of it when one that it comes after fails or is canceled: ${dependencyFailurePolicies.join(', ')}; default block`,
    '  --team             for several agents with one memory ("errand help task"); each of these makes it so too:',
    '  --type T           what kind of work it is, to list and compare by',
    '  --objective TEXT   what is to be reached; may be given several times',
    '  --parent-branch B  the branch of memory that its own lies below; default: that of the nearest team above, else main',
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
    deadline: { type: 'string' },
    role: { type: 'string' },
    tag: { type: 'string', multiple: true },
    concurrency: { type: 'string' },
    'on-child-failure': { type: 'string' },
    'on-dependency-failure': { type: 'string' },
    team: { type: 'boolean' },
    type: { type: 'string' },
    objective: { type: 'string', multiple: true },
    'parent-branch': { type: 'string' },
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
  deadline?: string | undefined
  role?: string | undefined
  tag?: string[] | undefined
  concurrency?: string | undefined
  'on-child-failure'?: string | undefined
  'on-dependency-failure'?: string | undefined
  team?: boolean | undefined
  type?: string | undefined
  objective?: string[] | undefined
  'parent-branch'?: string | undefined
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
    ...(input === undefined ? {} : { input: jsonOption('input', input, '{"run": "make"}') }),
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
    ...(notBefore === undefined ? {} : { notBefore: timeOption('not-before', notBefore) }),
    ...policyOf(flags),
    ...teamOf(flags),
  }
}

function teamOf({ team, type, objective: objectives, 'parent-branch': parentBranch }: AddFlags): CreateOptions {
  return {
    ...(team === undefined ? {} : { team }),
    ...(type === undefined ? {} : { type }),
    ...(objectives === undefined ? {} : { objectives }),
    ...(parentBranch === undefined ? {} : { parentBranch }),
  }
}

function policyOf(flags: AddFlags): CreateOptions {
  const {
    deadline,
    role,
    tag: tags,
    concurrency,
    'on-child-failure': onChildFailure,
    'on-dependency-failure': onDependencyFailure,
  } = flags
  return {
    ...(deadline === undefined ? {} : { deadline: timeOption('deadline', deadline) }),
    ...(role === undefined ? {} : { role }),
    ...(tags === undefined ? {} : { tags }),
    ...(concurrency === undefined ? {} : { concurrency: wholeNumber('concurrency', concurrency, 1) }),
    ...(onChildFailure === undefined
      ? {}
      : { onChildFailure: oneOf('on-child-failure', onChildFailure, childFailurePolicies) }),
    ...(onDependencyFailure === undefined
      ? {}
      : { onDependencyFailure: oneOf('on-dependency-failure', onDependencyFailure, dependencyFailurePolicies) }),
  }
}
