// Every verb of the command line is called with --json on a ledger with tasks in every state: wherever it prints the status of a
// task, that is one of the eight states. A verb that this script does not call fails the test.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { callStatuses } from '../../src/entities/call.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { branchStatuses, factStatuses } from '../../src/entities/memory.ts'
import { runStatuses } from '../../src/entities/run.ts'
import { taskStatuses } from '../../src/entities/task.ts'
import { objectiveStatuses } from '../../src/entities/team.ts'
import { main } from '../../src/surfaces/cli/main.ts'
import type { VerbTable } from '../../src/surfaces/cli/verb.ts'
import { allVerbs } from '../../src/surfaces/cli/verbs.ts'
import { ledgerFile, openEngine, reached, waysTo } from '../engine/world.ts'
import { fakeIo } from './cli/fake-io.ts'

const verbs = await allVerbs()

/** Not called here: boards have statuses of their own (the s07 task board); the others print no tasks, or serve until they are stopped. */
const others: Record<string, string> = {
  board: 'words of the s07 task board',
  hook: 'the board again, for coding agents',
  trust: 'says only which ledger is trusted',
  ledger: 'copies and checks rows, and prints no task',
  machine: 'reads a file, and prints no task',
  init: 'writes files and prints their names',
  completion: 'prints a script for a shell',
  ask: 'prints the same events as `run`',
  chat: 'prints the items of task:stream, whose schema is walked',
  schedule: 'prints what abilities answer, whose schemas are walked',
  repl: 'prints what abilities answer, whose schemas are walked',
  serve: 'serves abilities, whose schemas are walked',
  inspect: 'serves abilities, whose schemas are walked',
  mcp: 'serves abilities, whose schemas are walked',
}

/** States of entities other than tasks. */
const ofOthers = [...callStatuses, ...runStatuses, ...branchStatuses, ...factStatuses, ...objectiveStatuses, 'active']

/** Verbs that print facts, branches or objectives. */
const otherLines = /^(?:memory|task objectives?) /

/** Keys of entities other than tasks, whose `status` is not checked. */
const things = /^(?:calls?|runs?|objectives?|branch(?:es)?|facts?|activeAgents|stints?|agents?)$/

interface Printed {
  verb: string
  values: unknown[]
}

const plan = `
tasks:
  build: { run: 'true' }
  check: { run: 'false', after: build }
`

/** In this order; `:name` stands for the id of a task. */
const script = `
run plan.yaml
add Extra --tag x
ps --all
ps --status running
show :completed
show :failed
show :canceled
show :asks
tree --all
logs :asks
why :paused
why :asks
why :waiting
pause :working
resume :paused
retry :failed
answer :asks true
send :submitted Hello
signal :submitted paid
claim :free --as ann
heartbeat :free --as ann
release :free --as ann later
claim :free --as ann
complete :free --as ann --result 1
claim :unfit --as ann
fail :unfit no use --as ann
block :first :second
unblock :first :second
start :second
cancel :waiting --reason enough
task join :team --as bob --role builder
task context :team
task objectives :team --add Third
task objective :team 1 done
memory observe --session s1 --type decision --task :team --agent bob Use SQLite
memory remember Ledgers are files
memory facts
memory why :fact
memory search ledgers
memory consolidate session --session s1
memory branches
memory history
task leave :team --as bob
task timeline bob
task complete :team
task teams
task types
memory merge task/team
memory archive task/team
fork :asks
limit 5
graph --machine task
purge --older-than 1d
rm :canceled
`

/** The values of `status` and `from` of tasks. */
function statusesIn(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    if (/^(?:status|from|canonicalStatus|previousStatus)$/.test(key) && typeof inner === 'string') return [inner]
    return things.test(key) ? [] : statusesIn(inner)
  })
}

async function pathsOf(table: VerbTable, above: readonly string[] = []): Promise<string[]> {
  const paths = await Promise.all(
    Object.entries(table).map(async ([name, entry]) => {
      const path = [...above, name]
      const { verbs: below } = (await entry.load())[name] ?? {}
      return below === undefined ? [path.join(' ')] : pathsOf(below, path)
    }),
  )
  return paths.flat()
}

async function playScript(): Promise<Printed[]> {
  const ledger = ledgerFile()
  const cwd = join(ledger, '..')
  writeFileSync(join(cwd, 'plan.yaml'), plan)
  const engine = await openEngine({
    ledger,
    executors: { asks: (_task: ExecutorTask, run: Run) => run.ask('Go?', { type: 'boolean' }) },
  })
  const ids: Record<string, string> = {}
  for (const status of taskStatuses) {
    const task = await engine.create({ name: status })
    for (const next of waysTo[status]) await engine.update(task, { status: next })
    ids[status] = task.id
  }
  for (const name of ['free', 'unfit', 'first', 'second']) ids[name] = (await engine.create({ name })).id
  ids['team'] = (await engine.create({ name: 'team', team: true, objectives: ['First'] })).id
  ids['asks'] = (await engine.create({ name: 'asks', executor: 'asks' })).id
  await reached(engine, ids['asks'], 'input_required')

  ids['fact'] = (await engine.mem.remember({ text: 'Kept here' })).factId

  const printed: Printed[] = []
  const refused: string[] = []
  for (const line of script.trim().split('\n')) {
    const words = line.split(' ').map((word) => ids[word.slice(1)] ?? word)
    const io = fakeIo({ cwd })
    const code = await main([...words, '--json', '--ledger', ledger], io)
    if (code !== (line.startsWith('run ') ? 1 : 0)) refused.push(`${line}: ${code} ${io.err()}`)
    const lines = io.out().trim().split('\n')
    printed.push({ verb: line, values: lines.filter((each) => each !== '').map((each) => JSON.parse(each)) })
  }
  expect(refused).toEqual([])
  return printed
}

it('--json prints the status of a task as one of the eight states, with every verb', async () => {
  const printed = await playScript()
  const called = (path: string) => printed.some(({ verb }) => `${verb} `.startsWith(`${path} `))
  const paths = (await pathsOf(verbs)).filter((path) => others[path.split(' ')[0] ?? ''] === undefined)
  expect(paths.filter((path) => !called(path))).toEqual([])

  const ofTasks = printed.filter(({ verb }) => !otherLines.test(verb)).flatMap(({ values }) => statusesIn(values))
  expect(new Set(ofTasks)).toEqual(new Set(taskStatuses))
  const words = printed.flatMap(({ values }) => JSON.stringify(values).match(/(?<="status":")[a-z_]+/g) ?? [])
  expect(words.filter((word) => ![...taskStatuses, ...ofOthers].includes(word as never))).toEqual([])
})

it('the test of --json finds a status of another vocabulary', () => {
  expect(statusesIn([{ task: { status: 'running' }, calls: [{ status: 'started' }] }])).toEqual(['running'])
})
