// The tables and lists of the documents are complete, and their links lead somewhere.
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { completionStatusOf, processStatusOf } from '../src/compat/agent-os/views/status-mapping.ts'
import { day1StatusOf } from '../src/compat/day1/task.ts'
import { boardStatusOf } from '../src/entities/board.ts'
import { type TaskStatus, taskStatuses } from '../src/entities/task.ts'
import { toMermaid } from '../src/machines/drawing.ts'
import { taskMachine } from '../src/machines/task-machine.ts'
import { inspectorOptionsSchema } from '../src/surfaces/inspector/serve-inspector.ts'
import { allBlocks, pages, root, textOf } from './documents.ts'

const readme = textOf('README.md')

describe('The quick starts of docs/understand/other-designs.md', () => {
  const designs = 'docs/understand/other-designs.md'

  it('X-036 docs/understand/other-designs.md has a quick start for each vocabulary, and both forms of Agent OS', () => {
    const starts = allBlocks.filter(({ page }) => page === designs)
    const entries = starts.flatMap(({ text }) => /'(errand\/[\w-]+)'/.exec(text)?.[1] ?? [])
    expect(entries).toEqual(['errand/exo', 'errand/agent-os', 'errand/agent-os', 'errand/day1', 'errand/s07'])
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
    expect(textOf(designs).match(/^\| `.*$/gm)).toEqual(rows)
  })
})

it('docs/understand/task-machine.md draws the lifecycle from the machine of a task', () => {
  const drawn = allBlocks.find(
    ({ page, language }) => page === 'docs/understand/task-machine.md' && language === 'mermaid',
  )
  expect(drawn?.text.trimEnd()).toBe(toMermaid(taskMachine))
})

it('docs/guides/inspect.md names every option of its subject', () => {
  const names = Object.keys(inspectorOptionsSchema.shape)
  expect(names.length).toBeGreaterThan(5)
  expect(names.filter((name) => !textOf('docs/guides/inspect.md').includes(`\`${name}\``))).toEqual([])
})

it('a page of docs answers its question in at most 1,200 words, besides its tables', () => {
  const prose = pages.filter(
    (page) => /^docs\/(?:start|guides|understand)\//.test(page) && page !== 'docs/understand/benchmarks.md',
  )
  const wordsOf = (page: string) =>
    textOf(page)
      .replaceAll(/^\|.*$/gm, '')
      .match(/\S+/g)?.length ?? 0
  expect(prose.filter((page) => wordsOf(page) > 1_200)).toEqual([])
  expect(prose.length).toBeGreaterThan(40)
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
        if (path === '' && anchor === undefined) return true
        const target = path === '' ? page : join(dirname(page), path)
        if (!existsSync(join(root, target))) return true
        return anchor !== undefined && !anchorsOf(target).includes(anchor)
      })
      expect(broken.map(([link]) => link)).toEqual([])
    },
  )

  it('a link that has the title of a page leads to that page', () => {
    const titleOf = (page: string) => (/^# (.+)$/m.exec(textOf(page))?.[1] ?? '').toLowerCase()
    const pagesByTitle = Map.groupBy(pages, titleOf)
    const elsewhere = pages.flatMap((page) => {
      const links = textOf(page).matchAll(/\[([^\]]+)\]\((?!https?:)([^)\s#]+)[^)]*\)/g)
      return Array.from(links).filter(([, text = '', path = '']) => {
        const named = pagesByTitle.get(text.replaceAll(/\s+/g, ' ').toLowerCase())
        return named !== undefined && !named.includes(join(dirname(page), path))
      })
    })
    expect(elsewhere.map(([link]) => link)).toEqual([])
  })

  it('llms.txt links every page, in the part that has the name of its folder', () => {
    const parts = textOf('llms.txt').split(/^## /m).slice(1)
    const listed = parts.flatMap((part) => {
      const folder = (part.split('\n')[0] as string).toLowerCase()
      return Array.from(part.matchAll(/\]\((docs\/([^/]+)\/[^)]+)\)/g)).filter(([, , name]) => name === folder)
    })
    expect(new Set(listed.map(([, page]) => page))).toEqual(new Set(pages.filter((page) => page !== 'README.md')))
    expect(listed.length).toBe(pages.length - 1)
  })

  it('llms.txt has the titles of the pages', () => {
    const listed = Array.from(textOf('llms.txt').matchAll(/^- \[([^\]]+)\]\((docs\/[^)]+)\)/gm))
    const others = listed.filter(
      ([, title, page = '']) => title !== /^# (.+)$/m.exec(textOf(page))?.[1]?.replaceAll('`', ''),
    )
    expect(others.map(([line]) => line)).toEqual([])
  })

  it('the README has at most 300 lines', () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(300)
  })
})
