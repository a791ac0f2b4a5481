// Checks the source against the rules of the house (test/house/rules.ts), and each rule against planted violations, which it must find.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  idleAllowances,
  idleReasons,
  namesHaveMeaning,
  publicTypesAreOurOwn,
  type Rule,
  rules,
  wordsArePlain,
} from './house/rules.ts'
import { parse, readFolder, readTexts } from './house/source.ts'

const root = join(import.meta.dirname, '..')
const source = readFolder(root, 'src', '.ts')
/** Everything else that is read as prose or code. */
const texts = 'README.md SECURITY.md CHANGELOG.md ARCHITECTURE.md llms.txt docs page test bench examples scripts'
  .split(' ')
  .flatMap((path) => readTexts(root, path))
const ruleNames = Object.keys(rules) as (keyof typeof rules)[]

/** Files by path. */
type World = Record<string, string>

interface Proof {
  /** Each of these violates the rule once. */
  faults: World[]
  /** Looks like a violation and is none. */
  fine: World
}

const complaintsAbout = (world: World, rule: Rule) =>
  rule(Object.entries(world).map(([path, text]) => parse(path, text)))

/** Test files share a process: others would get the replacement, or this one would get the original module. */
const replacesModules: Rule = (files) =>
  files
    .filter(({ code }) => /\bvi\.(?:mock|doMock|resetModules)\b/.test(code))
    .map(({ path }) => `${path} replaces modules`)

const proofs: Record<keyof typeof rules, Proof> = {
  'every folder and root file of src has a level': {
    faults: [{ 'src/plumbing/pipe.ts': '' }, { 'src/plumbing.ts': '' }],
    fine: { 'src/engine/engine.ts': '', 'src/ledger/tables/task.ts': '', 'src/testing/index.ts': '' },
  },
  'imports point down, and folders of one level never import each other': {
    faults: [
      { 'src/entities/task.ts': `import { judge } from '../machines/task-edges.ts'` },
      { 'src/entities/task.ts': `export type { Step } from '../operations/steps/step.ts'` },
      { 'src/machines/family.ts': `import type { Ability } from '../bus/ability.ts'` },
      { 'src/operations/steps/create.ts': `type Run = import('../../actors/run.ts').Run` },
      { 'src/actors/run.ts': `await import('../commands/shell.ts')` },
      { 'src/core/clock.ts': `import { task } from '../entities/task.ts'` },
      { 'src/ledger/ledger.ts': `import type { Engine } from '../engine/engine.ts'` },
      { 'src/board/claim.ts': `import { Memory } from '../memory/index.ts'` },
      { 'src/plans/plan.ts': `import { shell } from '../commands/shell.ts'` },
      { 'src/operations/task/wait.ts': `import { Engine } from '../../engine/engine-api.ts'` },
      { 'src/compat/exo.ts': `import '../surfaces/cli/verbs.ts'` },
      { 'src/operations/task/create.ts': `import { world } from '../../testing/world.ts'` },
      { 'src/testing/clock.ts': `import '../surfaces/cli/bin.ts'` },
      { 'src/surfaces/cli/bin.ts': `import version from '../../../package.json'` },
    ],
    fine: {
      'src/engine/engine-api.ts': `import { ErrandError } from '../core/errors.ts'; import type { Executor } from '../entities/executor.ts'`,
      'src/operations/steps/create.ts': `import './step.ts'; import type { Ledger } from '../../ledger/ledger.ts'`,
      'src/engine/engine.ts': `import '../memory/memory.ts'; import '../actors/run.ts'`,
      'src/plans/plan.ts': `import { shell } from '../commands/index.ts'`,
      'src/operations/task/wait.ts': `import type { Engine } from '../../engine/engine-api.ts'`,
      'src/surfaces/cli/run.ts': `import { createEngine } from '../../index.ts'; import '../terminal/table.ts'`,
      'src/testing/world.ts': `import { createEngine } from '../engine/engine.ts'`,
      'src/entities/task.ts': `// import '../machines/task-edges.ts'\nconst text = "import '../engine.ts'"`,
    },
  },
  'src itself has one file': {
    faults: [Object.fromEntries(Array.from({ length: 2 }, (_, n) => [`src/file-${n}.ts`, '']))],
    fine: { 'src/index.ts': '', 'src/core/errors.ts': '' },
  },
  'no surface imports another': {
    faults: [
      { 'src/surfaces/repl/session.ts': `import { misuse } from '../cli/arguments.ts'` },
      { 'src/surfaces/chat/chat.ts': `import type { Problem } from '../http/problem.ts'` },
      { 'src/surfaces/cli/verbs/serve.ts': `await import('../../http/routes.ts')` },
      { 'src/surfaces/cli/serving.ts': `await import('../http/index.ts')` },
    ],
    fine: {
      'src/surfaces/cli/verbs/serve.ts': `await import('../../http/index.ts'); import '../serving.ts'`,
      'src/surfaces/http/chat.ts': `import { guard } from '../web/request-guard.ts'; import './page/site.ts'`,
    },
  },
  'surfaces reach tasks through operations only': {
    faults: [
      { 'src/surfaces/cli/verbs/pause.ts': `import { pause } from '../../../operations/steps/pause.ts'` },
      { 'src/surfaces/http/routes.ts': `import type { Tx } from '../../ledger/ledger.ts'` },
      { 'src/surfaces/repl/session.ts': `import { draft } from '../../operations/drafts/draft.ts'` },
      { 'src/surfaces/mcp/task-mapping.ts': `await import('../../actors/supervisor.ts')` },
      { 'src/surfaces/terminal/memory-text.ts': `import { mergeFacts, type Conflict } from '../../memory/merge.ts'` },
    ],
    fine: {
      'src/surfaces/terminal/memory-text.ts': `import type { Conflict } from '../../memory/merge.ts'`,
      'src/surfaces/inspector/wire.ts': `import type { InspectionEvent } from '../../actors/inspection-event.ts'`,
      'src/surfaces/cli/ledger-path.ts': `import { findLedger } from '../../ledger/find-ledger.ts'`,
      'src/surfaces/cli/verbs/pause.ts': `import { engine } from '../../../index.ts'; import '../../../engine/machine-charts.ts'`,
      'src/operations/task/pause.ts': `import { pause } from '../steps/pause.ts'`,
    },
  },
  'a verb of the command line is in the file of its name': {
    faults: [
      { 'src/surfaces/cli/verbs/look.ts': 'export const why = defineVerb({})' },
      { 'src/surfaces/cli/verbs/look.ts': 'const why =\n  defineVerb({})\nexport { why }' },
      { 'src/surfaces/cli/verbs/ps.ts': 'export const ps = defineVerb({})\nexport const memory: Readonly<Verb> = {}' },
      { 'src/surfaces/cli/verbs/reading/why.ts': 'export const why = defineVerb({})' },
      { 'src/surfaces/cli/reading-verbs.ts': 'export const why = defineVerb({})' },
    ],
    fine: {
      'src/surfaces/cli/verbs/why.ts': 'export const why = defineVerb({})\nexport const maxLines = 5',
      'src/surfaces/cli/verbs/board.ts': 'export const board = defineVerb({})',
      'src/surfaces/cli/verbs/board/tasks.ts': 'export const add = defineVerb({})',
    },
  },
  'better-sqlite3 is imported by one file below ledger/sqlite': {
    faults: [
      { 'src/ledger/ledger.ts': `import Database from 'better-sqlite3'` },
      { 'src/actors/run.ts': `createRequire(import.meta.url)('better-sqlite3')` },
      {
        'src/ledger/sqlite/driver.ts': `import Database from 'better-sqlite3'`,
        'src/ledger/sqlite/pool.ts': `import type { Statement } from 'better-sqlite3'`,
      },
    ],
    fine: {
      'src/ledger/sqlite/driver.ts': `const Database = createRequire(import.meta.url)('better-sqlite3')`,
      'src/ledger/ledger.ts': '// better-sqlite3 is loaded elsewhere',
    },
  },
  'ledger files are opened by SQLite only, except to create them': {
    faults: [
      { 'src/ledger/sqlite/open-file.ts': `const file = openSync(path, 'r')` },
      { 'src/ledger/sqlite/open-file.ts': `const file = openSync(fileOf(id), constants.O_RDONLY)` },
      { 'src/ledger/find-ledger.ts': `const header = readFileSync(path).subarray(0, 16)` },
      { 'src/ledger/find-ledger.ts': `import { open } from 'node:fs/promises'` },
      { 'src/ledger/open-ledger.ts': `createReadStream(path)` },
    ],
    fine: {
      'src/ledger/sqlite/open-file.ts': `import { closeSync, openSync } from 'node:fs'; openSync(path, 'wx', 0o600)`,
      'src/ledger/sqlite/instance-lock.ts': `closeSync(openSync(fileOf(instanceId), 'wx', 0o600))`,
      'src/ledger/sqlite/file-target.ts': `fsyncSync(openSync(dirname(path), 'r'))`,
      'src/plans/plan-source.ts': `readFile(path)`,
    },
  },
  'time, timers and randomness come from the clock and the ids': {
    faults: [
      { 'src/operations/steps/create.ts': 'const now = Date.now()' },
      { 'src/operations/steps/create.ts': 'const now = new Date()' },
      { 'src/operations/steps/create.ts': 'const now = new Date' },
      { 'src/operations/steps/create.ts': 'const now = Date()' },
      { 'src/operations/steps/create.ts': 'const text = `at ${Date.now()}`' },
      { 'src/bus/bus.ts': 'const since = performance.now()' },
      { 'src/actors/run.ts': 'setTimeout(() => abort(), 5)' },
      { 'src/actors/run.ts': 'const timer = globalThis.setInterval(beat, 5)' },
      { 'src/commands/shell.ts': 'const later = setTimeout' },
      { 'src/actors/run.ts': 'setImmediate(() => suspend())' },
      { 'src/commands/shell.ts': `import { scheduler } from 'node:timers/promises'` },
      { 'src/commands/shell.ts': 'fetch(url, { signal: AbortSignal.timeout(5) })' },
      { 'src/surfaces/cli/verbs.ts': 'const id = Math.random()' },
      { 'src/core/clock.ts': 'const id = crypto.randomUUID()' },
      { 'src/entities/task.ts': `import { randomBytes } from 'node:crypto'` },
      { 'src/entities/task.ts': `process.getBuiltinModule('node:crypto').randomFillSync(bytes)` },
    ],
    fine: {
      'src/core/clock.ts': 'const now = () => Date.now(); setTimeout(run, 5)',
      'src/core/ids.ts': `import { randomBytes } from 'node:crypto'`,
      'src/surfaces/cli/progress.ts': 'setInterval(draw, 80)',
      'src/entities/task.ts': 'const at = new Date(task.createdAt); const from = Date.parse(text) // not Date.now()',
      'src/actors/supervisor.ts': 'clock.setTimeout(run, 5); clearTimeout(timer)',
      'src/testing/clock.ts': 'const clock = { setTimeout(run: () => void, ms: number) { due.push(run) } }',
      'src/entities/options.ts': `interface Clock { setTimeout(run: () => void): number }; const text = 'Date.now()'`,
    },
  },
  'SQL consists of literals of the code and bound values': {
    faults: [
      { 'src/ledger/tables/task.ts': 'sql`order by ${sql.ref(filter.order)}`' },
      { 'src/ledger/tables/task.ts': `query.where(sql.raw("name = '" + name + "'"))` },
      { 'src/ledger/tables/memory/fact.ts': 'sql.raw(`json_extract(data, "$.${key}")`)' },
      { 'src/ledger/tables/memory/fact.ts': 'sql`select ${sql.lit(status)}`' },
      { 'src/operations/steps/create.ts': 'sql\n  .table(name)' },
    ],
    fine: {
      'src/ledger/tables/task-ready.ts': 'sql`${sql.ref(column)} = ${value} and ${sql.raw(`deleted_at is null`)}`',
      'src/ledger/tables/memory/fact.ts': `const integer = sql.raw(dialect.kind === 'sqlite' ? 'integer' : 'bigint')`,
      'src/ledger/migrations/0001-first.ts': 'sql.raw(text) // of the code',
      'src/ledger/tables/call.ts': `sql.join(statuses.map((status) => sql.lit(status)))`,
    },
  },
  'regular expressions are literals of the code': {
    faults: [
      { 'src/agents/routing/intent.ts': 'const found = new RegExp(words).test(message)' },
      { 'src/commands/files/search.ts': `RegExp(input.pattern, 'u')` },
    ],
    fine: {
      'src/entities/fact-tokens.ts': `new RegExp(wordOrRun, 'gv')`,
      'src/core/parse.ts': 'const isPattern = value instanceof RegExp // new RegExp(text)',
    },
  },
  'regular expressions match in linear time': {
    faults: [
      { 'src/core/parse.ts': 'const words = /^(\\w+\\s*)+$/' },
      { 'src/core/parse.ts': 'const a = /(?:a*)*b/.test(text)' },
      { 'src/core/parse.ts': 'const a = /((a|b+)c?){20,}/u' },
      { 'src/core/parse.ts': 'const a = /(?:-[a-z-]+)*/' },
      { 'src/core/parse.ts': 'const a = /(?:x(?:[ab]+){2,})/' },
    ],
    fine: {
      'src/core/parse.ts': [
        'const path = /^(?:\\/[a-z]+)*$/',
        'const numbers = /^\\d+(?:\\.\\d+)?$/',
        'const some = /(?:a+b){1,3}/',
        'const list = /^[^,]+(?:,[^,]+)*$/',
        'const words = /^[a-z]+(?:[ -][a-z]+)*$/',
        'const none = /[(a+)+]*/',
        'const text = "(a+)+" // /(a+)+/',
      ].join('\n'),
    },
  },
  'every status change of a task goes through transition': {
    faults: [
      { 'src/operations/steps/pause.ts': `import { moved } from '../machines/changed-task.ts'` },
      { 'src/board/claim.ts': `import { type Changes, moved, touched } from '../machines/changed-task.ts'` },
      { 'src/operations/steps/pause.ts': `import { sendEvent } from './send-event.ts'` },
    ],
    fine: {
      'src/operations/steps/send-event.ts': `import { moved } from '../machines/changed-task.ts'`,
      'src/operations/steps/settle-family.ts': `import { sendEvent } from './send-event.ts'`,
      'src/operations/steps/pause.ts': `import { touched } from '../machines/changed-task.ts'; import { passToWorking } from './send-event.ts'`,
    },
  },
  'the feed is followed by its follower only': {
    faults: [
      { 'src/actors/subscriptions.ts': 'const page = await feed.read((tx) => tx.event.after(cursor, pageSize))' },
      {
        'src/board/mirror/mirror-board.ts': 'for await (const { taskId } of this.#host.events({ after })) take(taskId)',
      },
    ],
    fine: {
      'src/actors/follower.ts': 'feed.read((tx) => tx.event.after(from, pageSize), doing)',
      'src/operations/event/list.ts': 'yield* tx.event.after(after, limit + 1, taskId)',
      'src/surfaces/cli/verbs/logs.ts': 'for await (const event of engine.events({ taskId })) take(event)',
      'src/board/mirror/mirror-board.ts': 'for await (const events of this.#host.follow(after, signal)) take(events)',
    },
  },
  'a loop that reads gives way to other work': {
    faults: [
      {
        'src/actors/subscriptions.ts':
          'while (isBehind()) {\n  const page = await feed.read(query)\n  deliver(page)\n}',
      },
      { 'src/actors/purge.ts': 'for (let after; ; ) {\n  after = (await readPage(after)).next\n}' },
    ],
    fine: {
      'src/actors/subscriptions.ts': 'while (isBehind()) {\n  await nextTurn()\n  deliver(await feed.read(query))\n}',
      'src/actors/purge.ts': 'for (const id of ids) {\n  await host.read(query)\n}\nawait host.read(query)',
      'src/memory/search.ts': 'for (;;) {\n  await host.step(write)\n  await host.read(query)\n}',
    },
  },
  'identifiers, comments and messages use plain words': {
    faults: [
      { 'src/bus/bus.ts': '// Whoever calls gets an answer.' },
      { 'src/bus/bus.ts': 'const mostCalls = 5' },
      { 'src/bus/bus.ts': "throw new Error('Nobody may call this.')" },
      { 'src/bus/bus.ts': 'slot.letGo()' },
      { 'src/operations/steps/pause.ts': 'interface Moment { at: number }' },
      { 'src/operations/steps/claim.ts': 'function claim(token: Quote) {}' },
      { 'docs/guides/board.md': 'The task is in progress, and nobody has claimed it.' },
      { 'docs/guides/http.md': 'The key is kept for ever.' },
      { 'test/bus/bus.test.ts': "it('a caller is told the reason', () => {})" },
      { 'test/engine/world.ts': 'const toldOf = (id: string) => read(id)' },
      { 'test/engine/laws.ts': 'await laws.checkTold()' },
      { 'test/surfaces/web/guard.test.ts': "const token = 'for-the-door'" },
    ],
    fine: {
      'src/bus/bus.ts': "// The caller is notified by a heartbeat.\nconst maxCalls = 5\nconst text = 'almost always'",
      'src/surfaces/terminal/shell-quote.ts':
        'export const shellQuote = (word: string) => word // \'Seat 5\', at the moment, a "Quote"',
      'src/operations/steps/notify-parent.ts': 'const id = `${child}-told-${attempt}`',
      'docs/guides/board.md': 'The task is in progress and unclaimed; the intelligent caller shears outdoors.',
    },
  },
  'no file name ends in words': {
    faults: [{ 'src/surfaces/terminal/task-words.ts': '' }],
    fine: { 'src/surfaces/terminal/task-labels.ts': '' },
  },
  'no file or folder has a meaningless name': {
    faults: [
      { 'src/bus/types.ts': '' },
      { 'src/utils/text.ts': '' },
      { 'src/helpers.ts': '' },
      { 'src/bus/util.ts': '' },
    ],
    fine: { 'src/entities/task-types.ts': '', 'src/bus/common-sense.ts': '' },
  },
  'canceled is spelled with one l': {
    faults: [
      { 'src/bus/bus.ts': '// a cancelled task' },
      { 'src/entities/task.ts': `'cancelled'` },
      { 'src/bus/bus.ts': `const onCancelled = 'x'` },
    ],
    fine: {
      'src/bus/bus.ts': '// canceled, canceling, cancellation',
      'src/compat/exo.ts': `'cancelled'`,
      'src/entities/status-filter.ts': `'cancelled'`,
      'src/operations/index.ts': `'cancelled'`,
      'src/surfaces/a2a/task-mapping.ts': `'cancelled'`,
    },
  },
  'comments cite no ids of requirements': {
    faults: [
      { 'src/bus/bus.ts': '// answers once (conformance S1-027)' },
      { 'src/bus/bus.ts': '/** The states (conformance 1.1). */' },
    ],
    fine: { 'src/bus/bus.ts': '// answers once, because the caller repeats; RFC 9110, section 15' },
  },
  'process and completion statuses occur in vocabularies only': {
    faults: [
      {
        'src/engine/task-engine.ts': `import { processStatusOf } from '../compat/agent-os/views/status-mapping.ts'`,
      },
      { 'src/surfaces/http/answer.ts': `const status: ProcessStatus = task.status` },
      { 'src/entities/views.ts': `const status = 'killed'` },
      { 'src/entities/task.ts': `interface Task { completionStatus?: string }` },
    ],
    fine: {
      'src/compat/agent-os/views/status-mapping.ts': `const processStatuses = ['killed']`,
      'src/commands/command.ts': '// the process is killed, and its status reported',
    },
  },
  'a list of any length is not spread into the arguments of a call': {
    faults: [
      { 'src/operations/steps/a.ts': 'open.push(...tasks)' },
      { 'src/operations/steps/a.ts': 'open.push(...(yield* tx.task.children(id)).map((child) => child.id))' },
      { 'src/operations/steps/a.ts': 'wanted.push(first, ...kept)' },
      { 'src/surfaces/terminal/a.ts': 'const width = Math.max(0, ...labels)' },
      { 'src/surfaces/terminal/a.ts': 'live.unshift(...pending)' },
    ],
    fine: {
      'src/operations/steps/a.ts':
        'open.push({ ...task }); open.push([...tasks]); for (const task of tasks) open.push(task)',
      'src/surfaces/terminal/a.ts': 'const width = Math.max(0, label); print(...words)',
    },
  },
  'texts are cut at whole characters': {
    faults: [
      { 'src/operations/drafts/draft.ts': "const name = spec.goal?.split('\\n')[0]?.slice(0, maxLength)" },
      {
        'src/operations/steps/explain.ts':
          "const reason = (given.split('\\n')[0] ?? '').trim().slice(0, maxReasonLength)",
      },
      { 'src/bus/ability-error.ts': 'const shown = (id: string) => id.length > max ? `${id.slice(0, max)}…` : id' },
      { 'src/board/mirror/file-edit.ts': 'const told = `It was ${JSON.stringify(found)?.slice(0, 60)}.`' },
      {
        'src/surfaces/terminal/table.ts':
          'function cell(given: string, room: number) { return given.substring(0, maxLength) }',
      },
      { 'src/surfaces/inspector/redact.ts': "return typeof value === 'string' ? value.slice(0, 500) : value" },
      { 'src/operations/steps/send.ts': 'const { name } = task; return name.slice(0, 80)' },
    ],
    fine: {
      'src/core/storable-text.ts': 'const start = text.slice(0, maxLength)',
      'src/bus/ability-error.ts': 'const shown = clipped(id, 80); const cut = text.slice(0, 80).toWellFormed()',
      'src/board/team/mail.ts': 'const taken = fitting(unread.slice(0, limit)); names.slice(0, maxNamed).join(between)',
      'src/operations/steps/explain.ts':
        'function listed(name: string[]) { return `${name.slice(0, maxNamed).join(between)}` }',
      'src/surfaces/inspector/redact.ts':
        "if (typeof value === 'string') return value; if (Array.isArray(value)) return value.slice(0, maxValues)",
      'src/core/ids.ts': 'return `${prefix}-${sha256(identityOf(prefix)).slice(0, 26)}`',
      'src/plans/parse-plan.ts': "sha256(text).slice(0, 16); createHash('sha256').digest('hex').slice(0, 32)",
      'src/surfaces/terminal/answer-stream.ts':
        'const line = text.slice(0, end); const id = text.slice(0, text.length - held)',
      'src/agents/models/known-providers.ts': 'name.slice(0, -suffix.length)',
      'src/operations/task/list.ts': 'return { tasks: found.slice(0, input.limit) }',
    },
  },
  'no file contains TODO, FIXME or XXX': {
    faults: [{ 'src/bus/bus.ts': '// TODO: more' }, { 'src/bus/bus.ts': '/* FIXME */' }],
    fine: { 'src/bus/bus.ts': 'const todo = todos.length' },
  },
  'every file opens with a comment about its content': {
    faults: [
      { 'src/bus/bus.ts': `import './ability.ts'\n// The bus: one registry of abilities.` },
      { 'src/bus/bus.ts': '// bus' },
      { 'src/bus/bus.ts': '// biome-ignore lint/suspicious/noExplicitAny: it is what callers give us\nlet x' },
      { 'src/bus/bus.ts': '' },
    ],
    fine: {
      'src/bus/bus.ts': '// The bus: one registry of abilities.\n',
      'src/bus/ability.ts': '/**\n * The definition of an ability.\n */\n',
      'src/surfaces/cli/bin.ts': '#!/usr/bin/env node\n// Starts the command line.\n',
    },
  },
}

/** Ids of conformance stand at the beginning of a title, without brackets. */
const titlesHaveOneForm: Rule = (files) =>
  files.flatMap(({ path, code, literals }) => [
    ...(/^\s*test(?:\.\w+)*\(/m.test(code) ? [`${path} uses test; here it is written \`it\``] : []),
    ...literals
      .filter((text) => /\((?:S\d|X|Q|V|C)-\d{2,3}\b[^)]*\)/.test(text))
      .map((text) => `${path}: "${text}" has its ids in brackets; put them at the beginning`),
  ])

const conformanceId = /\b(?:S\d|X|Q|V|C)-\d{2,3}\b/g

/** The ids in titles, against those that test/conformance.md lists. */
function conformanceGaps(files: Parameters<Rule>[0], listed: string): string[] {
  const titles = files.flatMap(({ literals }) => literals.filter((text) => /^(?:S\d|X|Q|V|C)-\d{2,3}\b/.test(text)))
  const tested = new Set(titles.flatMap((title) => title.match(conformanceId) ?? []))
  const lines = new Set(Array.from(listed.matchAll(/^- \*\*([A-Z]\d?-\d+)\*\* \S/gm), ([, id]) => id as string))
  return [
    ...[...tested].filter((id) => !lines.has(id)).map((id) => `${id} has no line`),
    ...[...lines].filter((id) => !tested.has(id)).map((id) => `${id} has no test`),
  ].sort()
}

describe('the rules of the house', () => {
  it('the house test finds files to check', () => {
    expect(source.length).toBeGreaterThan(0)
  })

  it.each(ruleNames)('src follows the rule: %s', (name) => {
    expect(rules[name](source)).toEqual([])
  })

  it('every listed reason for a spread list is needed', () => {
    expect(idleReasons(source)).toEqual([])
  })

  it('documents, the page, tests, benchmarks, examples and scripts use plain words', () => {
    expect(wordsArePlain(texts)).toEqual([])
  })

  it('every listed reason for a word is needed', () => {
    expect(idleAllowances([...source, ...texts])).toEqual([])
  })

  it('test titles use `it` and begin with their conformance ids', () => {
    expect(titlesHaveOneForm(readFolder(root, 'test', '.ts'))).toEqual([])
  })

  it('test/conformance.md has a line for each id in the title of a test, and a test for each line', () => {
    const files = readFolder(root, 'test', '.test.ts').filter(({ path }) => path !== 'test/house.test.ts')
    const listed = readFileSync(join(root, 'test/conformance.md'), 'utf8')
    expect(conformanceGaps(files, listed)).toEqual([])
    const planted = parse('test/bus/bus.test.ts', "it('S3-999 a caller pauses a task', () => {})")
    expect(conformanceGaps([planted], '- **S3-998** a task is paused\n')).toEqual([
      'S3-998 has no test',
      'S3-999 has no line',
    ])
  })

  it('the page cuts texts at whole characters', () => {
    const files = ['.ts', '.tsx'].flatMap((ending) => readFolder(root, 'page/src', ending))
    expect(rules['texts are cut at whole characters'](files)).toEqual([])
  })

  it('test, bench, examples and scripts follow the rules for names', () => {
    const others = ['test', 'bench', 'examples', 'scripts'].flatMap((folder) => readFolder(root, folder, '.ts'))
    const typeTests = /^test\/types\//
    const named = others.filter((file) => !typeTests.test(file.path))
    expect(namesHaveMeaning(named)).toEqual([])
  })

  it('no test replaces a module, because test files in one process share modules', () => {
    expect(replacesModules(readFolder(root, 'test', '.ts'))).toEqual([])
  })
})

describe('planted violations', () => {
  it('the house test finds a test that replaces a module', () => {
    expect(complaintsAbout({ 'test/a.test.ts': `vi.mock('../src/engine/engine.ts')` }, replacesModules)).toHaveLength(1)
    expect(complaintsAbout({ 'test/a.test.ts': `vi.spyOn(engine, 'open') // not vi.mock` }, replacesModules)).toEqual(
      [],
    )
  })

  it.each(ruleNames)('the house test finds planted violations of the rule: %s', (name) => {
    const { faults, fine } = proofs[name]
    const found = faults.map((world) => complaintsAbout(world, rules[name]).length)
    expect(found).toEqual(faults.map(() => 1))
    expect(complaintsAbout(fine, rules[name])).toEqual([])
  })

  it('publicTypesAreOurOwn finds public types that reach xstate, kysely or better-sqlite3', () => {
    const through = (text: string): World => ({
      'dist/index.d.ts': `export { open } from './open.js'`,
      'dist/open.d.ts': `export * from './deep/ledger.ts'`,
      'dist/deep/ledger.d.ts': text,
    })
    expect(complaintsAbout(through(`import type { Kysely } from 'kysely'`), publicTypesAreOurOwn)).toHaveLength(1)
    expect(
      complaintsAbout(through(`export declare const x: import("xstate").Actor`), publicTypesAreOurOwn),
    ).toHaveLength(1)
    expect(complaintsAbout(through(`/// <reference types="better-sqlite3" />`), publicTypesAreOurOwn)).toHaveLength(1)
    expect(complaintsAbout({ 'dist/actors/run.d.ts': `import 'xstate'` }, publicTypesAreOurOwn)).toEqual([])
    const entry = (name: string, text: string): World => ({ [`dist/${name}.d.ts`]: text })
    const named = `import type { AnyStateMachine } from 'xstate'`
    expect(complaintsAbout(entry('machine', named), publicTypesAreOurOwn)).toEqual([])
    expect(complaintsAbout(entry('testing', named), publicTypesAreOurOwn)).toHaveLength(1)
    expect(
      complaintsAbout(entry('machine', `import type { Kysely } from 'kysely'`), publicTypesAreOurOwn),
    ).toHaveLength(1)
    const beyond: World = { ...entry('machine', `export * from './actors.js'`), ...entry('actors', named) }
    expect(complaintsAbout(beyond, publicTypesAreOurOwn)).toHaveLength(1)
  })
})

describe('the reader of source files', () => {
  it('parse distinguishes imports from text in comments, strings, templates and regular expressions', () => {
    const file = parse(
      'src/bus/bus.ts',
      [
        `import { a } from './a.ts' // from './comment.ts'`,
        'const quoted = /[\'"`/]/g.test(x) ? `from ${nested(`import("./deep.ts")`, { b: "}" })} here` : 1 / 2',
        `export * from "./b.ts"; /* import './block.ts' */ const c = () => import('./c.ts')`,
        `const escaped = 'it\\'s from "./string.ts"'`,
        `import './d.ts'`,
      ].join('\n'),
    )
    expect(file.imports).toEqual(['./a.ts', './b.ts', './c.ts', './d.ts'])
    expect(file.code).toHaveLength(file.text.length)
  })
})
