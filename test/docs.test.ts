// The tables and lists of the documents are complete, and their links lead somewhere.
import { existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileAbilities } from '../src/commands/files/file-abilities.ts'
import { completionStatusOf, processStatusOf } from '../src/compat/agent-os/views/status-mapping.ts'
import { day1StatusOf } from '../src/compat/day1/task.ts'
import { createEngine } from '../src/engine/create-engine.ts'
import { boardStatusOf } from '../src/entities/board.ts'
import { engineOptionsSchema, memoryOptionsSchema } from '../src/entities/options.ts'
import { type TaskStatus, taskStatuses } from '../src/entities/task.ts'
import { planKeys } from '../src/plans/plan-schema.ts'
import { allVerbs } from '../src/surfaces/cli/verbs.ts'
import { inspectorOptionsSchema } from '../src/surfaces/inspector/serve-inspector.ts'
import { allBlocks, pages, root, textOf } from './documents.ts'

const verbs = await allVerbs()

const readme = textOf('README.md')

describe('The quick starts of the README', () => {
  const section = readme.slice(readme.indexOf('## The names of other designs'), readme.indexOf('## Where to go next'))

  it('X-036 the README has a quick start for each vocabulary, and both forms of Agent OS', () => {
    const starts = allBlocks.filter(({ page, text }) => page === 'README.md' && section.includes(text))
    const entries = starts.flatMap(({ text }) => /'(errand\/[\w-]+)'/.exec(text)?.[1] ?? [])
    expect(entries).toEqual(['errand/exo', 'errand/agent-os', 'errand/day1', 'errand/s07'])
  })

  it('X-036 the quick starts are beside a table of words that matches each vocabulary', () => {
    const rowOf = (status: TaskStatus, statusReason: string | null = null) => {
      const error = status === 'failed' ? { code: 'TASK_FAILED', message: '<reason>' } : null
      const ended = { status, statusReason, error }
      const words = [
        processStatusOf(ended),
        completionStatusOf(ended) ?? 'no status',
        day1StatusOf(ended.status),
        boardStatusOf(ended),
      ]
      const name = `\`${status}\`${statusReason === null ? '' : ', after its engine was lost'}`
      return `| ${[name, ...words.map((word) => (word === 'no status' ? word : `\`${word}\``))].join(' | ')} |`
    }
    const rows = taskStatuses.flatMap((status) =>
      status === 'waiting' ? [rowOf(status), rowOf(status, 'interrupted')] : [rowOf(status)],
    )
    expect(section.match(/^\| `.*$/gm)).toEqual(rows)
  })
})

it('docs/guides/memory.md names every setting of memory', () => {
  const names = Object.keys(memoryOptionsSchema().shape)
  expect(names.length).toBeGreaterThan(5)
  expect(names.filter((name) => !textOf('docs/guides/memory.md').includes(`\`${name}\``))).toEqual([])
})

it('docs/guides/inspect.md names every option of its subject', () => {
  const names = Object.keys(inspectorOptionsSchema.shape)
  expect(names.length).toBeGreaterThan(5)
  expect(names.filter((name) => !textOf('docs/guides/inspect.md').includes(`\`${name}\``))).toEqual([])
})

describe('The reference', () => {
  const missing = (names: Iterable<string>, text: string) =>
    Array.from(names).filter((name) => !new RegExp(`\\b${name}\\b`).test(text))
  const library = textOf('docs/reference/library.md')
  const plans = textOf('docs/guides/plans.md')

  it('docs/reference/library.md names every option and every method of the engine', async () => {
    await using engine = await createEngine({ work: false })
    const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(engine)).filter(
      (name) => name !== 'constructor' && name !== 'open',
    )
    expect(missing(Object.keys(engineOptionsSchema().shape), library)).toEqual([])
    expect(methods.filter((name) => !new RegExp(`\`${name}[\`(]`).test(library))).toEqual([])
    expect(missing(['nothing of this name'], library)).toEqual(['nothing of this name'])
  })

  it('docs/guides/plans.md names every key of a plan and every verb', () => {
    const keys = [...planKeys.task, ...planKeys.plan, ...planKeys.ask, ...planKeys.retry]
    expect(missing(keys, plans + textOf('docs/reference/task-fields.md'))).toEqual([])
    expect(missing(Object.keys(verbs), plans)).toEqual([])
  })

  it('docs/reference/library.md names every ability of the bus with its module', async () => {
    await using engine = await createEngine({
      work: false,
      abilities: fileAbilities(tmpdir()),
      plans: { root: tmpdir() },
    })
    const rows = library.slice(library.indexOf('| module | abilities |')).split('\n\n')[0]?.split('\n') ?? []
    const isShown = (module: string, name: string) =>
      rows.some((row) => row.includes(`\`${module}\``) && row.includes(`\`${name}\``))
    const unnamed = engine.bus
      .abilities()
      .filter(({ moduleName, abilityName }) => moduleName !== 'board' && !isShown(moduleName, abilityName))
    expect(unnamed.map(({ moduleName, abilityName }) => `${moduleName}:${abilityName}`)).toEqual([])
    expect(isShown('mem', 'nothing of this name')).toBe(false)
  })
})

describe('Links', () => {
  /** As GitHub makes it of a heading. */
  const anchorOf = (heading: string) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
  const anchorsOf = (page: string) =>
    Array.from(textOf(page).matchAll(/^#+ (.+)$/gm), ([, text = '']) => anchorOf(text))

  const decisions = readdirSync(join(root, 'docs/decisions')).map((name) => `docs/decisions/${name}`)

  it.each([...pages, ...decisions, 'llms.txt', 'ARCHITECTURE.md', 'SECURITY.md', 'CHANGELOG.md'])(
    'every link of %s leads to a file, and to a heading of it',
    (page) => {
      const links = Array.from(textOf(page).matchAll(/\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)/g))
      const broken = links.filter(([, path = '', anchor]) => {
        const target = path === '' ? page : join(dirname(page), path)
        if (!existsSync(join(root, target))) return true
        return anchor !== undefined && !anchorsOf(target).includes(anchor)
      })
      expect(broken.map(([link]) => link)).toEqual([])
    },
  )

  it('llms.txt links every page, in the part that has the name of its folder', () => {
    const parts = textOf('llms.txt').split(/^## /m).slice(1)
    const listed = parts.flatMap((part) => {
      const folder = (part.split('\n')[0] as string).toLowerCase()
      return Array.from(part.matchAll(/\]\((docs\/([^/]+)\/[^)]+)\)/g)).filter(([, , name]) => name === folder)
    })
    expect(new Set(listed.map(([, page]) => page))).toEqual(new Set(pages.filter((page) => page !== 'README.md')))
    expect(listed.length).toBe(pages.length - 1)
  })

  it('the README has at most 300 lines', () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(300)
  })
})
