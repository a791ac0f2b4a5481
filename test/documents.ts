// The pages that users read, and how their programs are run: each in a folder of its own in which the package is installed.
import { type ExecFileException, execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { blocksIn, type GuideBlock } from '../scripts/guide-blocks.ts'
import { dependencies, installPacked, peerDependencies } from '../scripts/packed-package.ts'
import { once } from '../src/core/once.ts'

export const root = join(import.meta.dirname, '..')

export const textOf = (path: string) => readFileSync(join(root, path), 'utf8')

/** README.md, and the pages of docs/ for users. */
export const pages = [
  'README.md',
  ...['start', 'guides', 'reference', 'understand'].flatMap((folder) =>
    readdirSync(join(root, 'docs', folder)).flatMap((name) => (name.endsWith('.md') ? [`docs/${folder}/${name}`] : [])),
  ),
]

export interface PageBlock extends GuideBlock {
  page: string
  /** Position among the blocks of its page, from 1. */
  number: number
  /** The block `text` directly below it; empty if there is none. */
  shown: string
}

/** All blocks of all pages. */
export const allBlocks: readonly PageBlock[] = pages.flatMap((page) => {
  const blocks = blocksIn(textOf(page))
  return blocks.map((block, index) => {
    const next = blocks[index + 1]
    return { ...block, page, number: index + 1, shown: next?.language === 'text' ? next.text : '' }
  })
})

const isProgram = ({ language }: GuideBlock) => language === 'js' || language === 'ts'

/** Programs as they stand; those that a reader saves in a file are run by the walk through the guides. */
export const programs = allBlocks.filter((block) => isProgram(block) && block.label === '')

/** A new folder with node_modules, in which these packages of the repository are installed; deleted at the end of the test. */
export function emptyProject(packages: Iterable<string> = []): string {
  const folder = mkdtempSync(join(tmpdir(), 'errand-docs-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  link(join(packedOnce(), 'node_modules/errand'), join(folder, 'node_modules/errand'))
  for (const name of packages) link(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  return folder
}

/** A folder with the package as it is published, and all that it may load. */
const packedOnce = once(() => {
  const folder = mkdtempSync(join(tmpdir(), 'errand-packed-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  installPacked(folder, [...Object.keys(dependencies), ...Object.keys(peerDependencies)])
  return folder
})

function link(target: string, place: string): void {
  mkdirSync(dirname(place), { recursive: true })
  symlinkSync(target, place)
}

/** The names of the packages that a program imports, or whose files it starts. */
export function packagesOf(program: string): Set<string> {
  const specifiers = Array.from(program.matchAll(/\b(?:from |resolve\()'([^']+)'/g), ([, specifier = '']) => specifier)
  const names = specifiers.map((specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '')
  return new Set(names.filter((name) => existsSync(join(root, 'node_modules', name))))
}

/** The Node that runs programs: DOCS_NODE, or that of this process. One before 22.18 strips types only when it is asked to. */
const node = process.env['DOCS_NODE'] ?? process.execPath
const strip =
  process.env['DOCS_NODE'] === undefined ? [] : ['--experimental-strip-types', '--disable-warning=ExperimentalWarning']

/** Runs a program in a folder of its own. */
export function runProgram(
  { language, text }: GuideBlock,
  env: Record<string, string> = {},
): Promise<{ code: unknown; out: string; err: string }> {
  const cwd = emptyProject(packagesOf(text))
  const file = language === 'ts' ? 'program.mts' : 'program.mjs'
  writeFileSync(join(cwd, file), text)
  const options = { cwd, timeout: 45_000, killSignal: 'SIGKILL', env: { ...process.env, ...env } } as const
  return new Promise((resolve) => {
    execFile(node, [...strip, file], options, (error: ExecFileException | null, out, err) => {
      resolve({ code: error === null ? 0 : (error.code ?? 'killed'), out, err })
    })
  })
}
