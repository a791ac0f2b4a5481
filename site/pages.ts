// The pages of the site, in the order of llms.txt, which is the one list of them; and where each file of the repository is on the site.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

export const root = join(import.meta.dirname, '..')

export interface Page {
  title: string
  /** The file, from the root of the repository. */
  path: string
  /** What the page answers. */
  answers: string
}

export interface Part {
  title: string
  pages: Page[]
}

/** The parts of llms.txt with their pages. */
export const parts: readonly Part[] = readFileSync(join(root, 'llms.txt'), 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((part) => ({
    title: part.slice(0, part.indexOf('\n')),
    pages: Array.from(
      part.matchAll(/^- \[(.+?)\]\((.+?)\)(?:: (.*))?$/gm),
      ([, title = '', path = '', answers = '']) => ({
        title,
        path,
        answers,
      }),
    ),
  }))

/** Pages that llms.txt does not list, because they are for those who change errand. */
export const others: readonly Page[] = [
  { title: 'Changes', path: 'CHANGELOG.md', answers: '' },
  ...readdirSync(join(root, 'docs/decisions'))
    .filter((name) => name.endsWith('.md'))
    .toSorted()
    .map((name) => ({ title: headingOf(`docs/decisions/${name}`), path: `docs/decisions/${name}`, answers: '' })),
]

export const pages: readonly Page[] = [...parts.flatMap((part) => part.pages), ...others]

/** The place of a file on the site, as VitePress rewrites it. */
export function placeOf(path: string): string {
  if (path === 'README.md') return 'index.md'
  return path.replace(/^docs\//, '').replace(/^[A-Z]+\.md$/, (name) => name.toLowerCase())
}

/** The link to a page of the site, with its anchor. */
export function linkTo(path: string, anchor = ''): string {
  return `/${placeOf(path)
    .replace(/(^|\/)index\.md$/, '$1')
    .replace(/\.md$/, '')}${anchor}`
}

/**
 * Where a link of a page leads on the site; undefined for a file that is not on it. A folder is represented by its first page. A link to what
 * does not exist stays as it is, and VitePress refuses it.
 */
export function resolvedLink(from: string, href: string): string | undefined {
  const [path = '', anchor] = href.split('#')
  const hash = anchor === undefined ? '' : `#${anchor}`
  const target = path === '' ? from : relative(root, join(root, dirname(from), path))
  const full = join(root, target)
  if (!existsSync(full)) return href
  const isFolder = statSync(full).isDirectory()
  const page = pages.find((each) => (isFolder ? each.path.startsWith(`${target}/`) : each.path === target))
  return page === undefined ? undefined : linkTo(page.path, hash)
}

/** As GitHub makes the anchor of a heading, so that a link works in both places. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

function headingOf(path: string): string {
  const [, heading = path] = /^# (.+)$/m.exec(readFileSync(join(root, path), 'utf8')) ?? []
  return heading.replaceAll('`', '')
}
