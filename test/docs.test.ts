// The programs of the documents run unchanged and print the output shown; the lists of the documents are complete.
import { type ExecFileException, execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fileAbilities } from '../src/abilities/fs/file-abilities.ts'
import { engineOptionsSchema, memoryOptionsSchema } from '../src/api/options.ts'
import { createEngine } from '../src/create-engine.ts'
import { boardStatusOf } from '../src/entities/board.ts'
import { type TaskStatus, taskStatuses } from '../src/entities/task.ts'
import { parseScript } from '../src/models/script.ts'
import { planKeys } from '../src/plans/plan-schema.ts'
import { verbs } from '../src/surfaces/cli/verbs.ts'
import { httpOptionsSchema } from '../src/surfaces/http/http-options.ts'
import { serveOptionsSchema } from '../src/surfaces/http/page/serve.ts'
import { inspectorOptionsSchema } from '../src/surfaces/inspector/serve-inspector.ts'
import { completionStatusOf, processStatusOf } from '../src/vocabularies/agent-os/views/status-mapping.ts'
import { day1StatusOf } from '../src/vocabularies/day1/task.ts'
import { statusOfCode } from '../src/web/status-codes.ts'
import { startModelServer } from './ai/model-server.ts'
import { planOf } from './surfaces/cli/plan-text.ts'

const root = join(import.meta.dirname, '..')
const textOf = (path: string) => readFileSync(join(root, path), 'utf8')
const guide = textOf('docs/agents.md')
const readme = textOf('README.md')

function blocks(text: string, language: string): string[] {
  return Array.from(text.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g')), ([, block]) => block ?? '')
}

/** Programs, each with the block below it: what it prints. */
function programsIn(text: string) {
  return Array.from(
    text.matchAll(/```js\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g),
    ([, program = '', prints = '']) => ({ title: /await ([\w.]+)\(/.exec(program)?.[1] ?? '', program, prints }),
  )
}
const programs = programsIn(guide)

function run(
  program: string,
  env: Record<string, string> = {},
  cwd = root,
): Promise<{ code: unknown; out: string; err: string }> {
  const options = { cwd, timeout: 15_000, killSignal: 'SIGKILL', env: { ...process.env, ...env } } as const
  return new Promise((resolve) => {
    const args = ['--input-type=module', '-e', program]
    execFile(process.execPath, args, options, (error: ExecFileException | null, out, err) => {
      resolve({ code: error === null ? 0 : (error.code ?? 'killed'), out, err })
    })
  })
}

describe('The guide to agents', () => {
  it('shows each program with its output', () => {
    expect(programs).toHaveLength(blocks(guide, 'js').length)
    expect(programs).toHaveLength(3)
  })

  it.each(programs)(
    'docs/agents.md has a program around `$title` that prints the output below it',
    async ({ program, prints }) => {
      const server = await startModelServer([[{ id: 'c1', name: 'search', input: { query: 'tides' } }], 'The moon.'])
      expect(await run(program, { LOCAL_BASE_URL: server.baseURL })).toEqual({ code: 0, out: prints, err: '' })
    },
  )

  it('shows a script and a plan that are accepted', () => {
    const [script, plan] = blocks(guide, 'yaml')
    expect(parseScript(script ?? '')).toHaveLength(3)
    expect(planOf(plan ?? '').tasks.map(({ name }) => name)).toEqual(['budget', 'hello', 'save'])
  })
})

const pagesWithPrograms = [
  'docs/board.md',
  'docs/board-teams.md',
  'docs/memory.md',
  'docs/inspect.md',
  'docs/secrets.md',
]
describe.each(pagesWithPrograms)('%s', (path) => {
  it('shows each program with its output', () => {
    expect(programsIn(textOf(path))).toHaveLength(blocks(textOf(path), 'js').length)
    expect(programsIn(textOf(path)).length).toBeGreaterThan(0)
  })

  it.each(programsIn(textOf(path)))(
    'docs/agents.md has a program around `$title` that prints the output below it',
    async (shown) => {
      expect(await run(shown.program, {}, emptyProject())).toEqual({ code: 0, out: shown.prints, err: '' })
    },
  )
})

/** A folder of its own, in which the package is installed. */
function emptyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'errand-docs-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules/errand'))
  return folder
}

describe('The quick starts of the README', () => {
  const section = readme.slice(
    readme.indexOf('### The names of other designs'),
    readme.indexOf('### Several processes'),
  )
  const starts = programsIn(section).map((shown) => ({
    ...shown,
    entry: /'(errand\/[\w-]+)'/.exec(shown.program)?.[1],
  }))

  it('X-036 the README has a quick start for each vocabulary, and both forms of Agent OS', () => {
    expect(starts.map(({ entry }) => entry)).toEqual(['errand/exo', 'errand/agent-os', 'errand/day1', 'errand/s07'])
    expect(blocks(section, 'js')).toHaveLength(starts.length)
  })

  it.each(starts)(
    'X-036 the quick start of $entry runs unchanged and prints the output below it',
    async ({ program, prints }) => {
      expect(await run(program, {}, emptyProject())).toEqual({ code: 0, out: prints, err: '' })
    },
  )

  it('X-036 the quick starts are beside a table of words that matches each vocabulary', () => {
    const asTold = (status: TaskStatus, statusReason: string | null = null) => {
      const error = status === 'failed' ? { code: 'TASK_FAILED', message: '<reason>' } : null
      const ended = { status, statusReason, error }
      const words = [
        processStatusOf(ended),
        completionStatusOf(ended) ?? 'none',
        day1StatusOf(ended.status),
        boardStatusOf(ended),
      ]
      const name = `\`${status}\`${statusReason === null ? '' : ', let go by a lost engine'}`
      return `| ${[name, ...words.map((word) => (word === 'none' ? word : `\`${word}\``))].join(' | ')} |`
    }
    const rows = taskStatuses.flatMap((status) =>
      status === 'waiting' ? [asTold(status), asTold(status, 'interrupted')] : [asTold(status)],
    )
    expect(section.match(/^\| `.*$/gm)).toEqual(rows)
  })
})

it('docs/memory.md names every setting of memory', () => {
  const names = Object.keys(memoryOptionsSchema.shape)
  expect(names.length).toBeGreaterThan(5)
  expect(names.filter((name) => !textOf('docs/memory.md').includes(`\`${name}\``))).toEqual([])
})

it.each([
  ['docs/http.md', { ...httpOptionsSchema.shape, ...serveOptionsSchema.shape }],
  ['docs/inspect.md', inspectorOptionsSchema.shape],
])('%s names every option of its subject', (path, shape) => {
  const names = Object.keys(shape)
  expect(names.length).toBeGreaterThan(5)
  expect(names.filter((name) => !textOf(path).includes(`\`${name}\``))).toEqual([])
})

it('X-032 docs/http.md lists each code with its HTTP status', () => {
  const page = textOf('docs/http.md')
  const rows = page
    .slice(page.indexOf('## Refusals'), page.indexOf('## Options'))
    .matchAll(/^\| ([\d, ]+) \| (.*) \|$/gm)
  const told = Array.from(rows, ([, statuses = '', words = '']) =>
    Array.from(words.matchAll(/`([A-Z_]{4,})`/g), ([, code = '']) => ({
      code,
      statuses: statuses.split(', ').map(Number),
    })),
  ).flat()
  const statusOf: Readonly<Record<string, number>> = statusOfCode
  // The codes with two: of a header it is the request that cannot be meant, else the task that is there; of streams there are too many for
  // one principal, or for the server.
  const withTwo = ['KEY_CONFLICT', 'TOO_MANY_STREAMS']
  const wrong = told.filter(({ code, statuses }) => !statuses.includes(statusOf[code] ?? 0) && !withTwo.includes(code))
  expect(wrong).toEqual([])
  expect(told.length).toBeGreaterThan(30)
})

describe('The README', () => {
  it('the README names every option of the engine, every key of a plan and every verb', () => {
    const missing = (names: Iterable<string>, text: string) =>
      Array.from(names).filter((name) => !new RegExp(`\\b${name}\\b`).test(text))
    const plans = readme.slice(readme.indexOf('## Plans'), readme.indexOf('## The library'))
    const fields = textOf('docs/task-fields.md')
    expect(missing(Object.keys(engineOptionsSchema.shape), readme)).toEqual([])
    expect(missing([...planKeys.task, ...planKeys.plan, ...planKeys.ask, ...planKeys.retry], plans + fields)).toEqual(
      [],
    )
    expect(missing(Object.keys(verbs), plans)).toEqual([])
    expect(missing(['nothing of this name'], readme)).toEqual(['nothing of this name'])
  })

  it('the README names every ability of the bus with its module', async () => {
    await using engine = await createEngine({ work: false, abilities: fileAbilities(tmpdir()) })
    const rows = readme.slice(readme.indexOf('| module | abilities |')).split('\n\n')[0]?.split('\n') ?? []
    const isShown = (module: string, name: string) =>
      rows.some((row) => row.includes(`\`${module}\``) && row.includes(`\`${name}\``))
    const missing = engine.bus
      .abilities()
      .filter(({ moduleName, abilityName }) => moduleName !== 'board' && !isShown(moduleName, abilityName))
    expect(missing.map(({ moduleName, abilityName }) => `${moduleName}:${abilityName}`)).toEqual([])
    expect(isShown('mem', 'nothing of this name')).toBe(false)
  })

  it('the README shows valid plans', () => {
    const plans = blocks(readme, 'yaml')
    expect(plans.map((plan) => planOf(plan).tasks.length)).toEqual([4])
  })
})
