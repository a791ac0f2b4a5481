// The linter's configuration, which has the rules that oxlint knows: each finds a planted fault, and nothing is found in what looks like one.
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const root = join(import.meta.dirname, '..')

/** What the linter finds in a folder with these files: the rule and the file of each complaint, sorted. */
async function complaintsAbout(files: Record<string, string>): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-lint-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(join(root, '.oxlintrc.json'), join(folder, '.oxlintrc.json'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const printed = await new Promise<string>((resolve) => {
    const args = ['--report-unused-disable-directives', '--format', 'json']
    execFile(join(root, 'node_modules/.bin/oxlint'), args, { cwd: folder }, (_error, stdout) => resolve(stdout))
  })
  const { diagnostics } = JSON.parse(printed) as { diagnostics: Array<{ code?: string; filename: string }> }
  return diagnostics.map(({ code = 'directive', filename }) => `${code} ${filename}`).sort()
}

const body = (lines: number) => `export function f(): void {\n${'  void 0\n'.repeat(lines)}}\n`
const comments = (lines: number) => `${'// line\n'.repeat(lines - 1)}export const x = 1\n`

it('the linter finds import cycles, also among types', async () => {
  const cycle = {
    'src/bus/a.ts': `import type { B } from './b.ts'\nexport interface A {\n  b: B\n}\n`,
    'src/bus/b.ts': `import type { A } from './a.ts'\nexport interface B {\n  a: A\n}\n`,
    'src/bus/c.ts': `import type { A } from './a.ts'\nexport type C = A\n`,
  }
  expect(await complaintsAbout(cycle)).toEqual(['import(no-cycle) src/bus/a.ts', 'import(no-cycle) src/bus/b.ts'])
})

it('the linter finds files of more than 400 lines and functions of more than 70 in src', async () => {
  const long = {
    'src/bus/file.ts': comments(401),
    'src/bus/function.ts': body(69),
    'src/bus/fine.ts': `${comments(300)}${body(68)}`,
    'test/bus/file.test.ts': `${comments(401)}${body(80)}`,
  }
  const found = ['eslint(max-lines) src/bus/file.ts', 'eslint(max-lines-per-function) src/bus/function.ts']
  expect(await complaintsAbout(long)).toEqual(found)
})

it('the linter finds imports of kysely, xstate and its store outside of their parts', async () => {
  const importing = (name: string) => `import * as all from '${name}'\nexport const used = all\n`
  const files = {
    'src/ledger/a.ts': importing('kysely'),
    'src/machines/a.ts': importing('xstate'),
    'src/actors/a.ts': `${importing('xstate')}`,
    'src/actors/b.ts': importing('@xstate/store'),
    'src/surfaces/inspector/a.ts': importing('xstate'),
    'src/user-machines/a.ts': importing('xstate'),
    'src/memory/faulty.ts': importing('kysely'),
    'src/engine/faulty.ts': importing('xstate'),
    'src/ledger/faulty.ts': importing('xstate'),
    'src/machines/faulty.ts': importing('@xstate/store'),
    'src/actors/faulty.ts': importing('kysely'),
  }
  const faulty = ['actors', 'engine', 'ledger', 'machines', 'memory'].map((part) => `src/${part}/faulty.ts`)
  expect(await complaintsAbout(files)).toEqual(faulty.map((path) => `eslint(no-restricted-imports) ${path}`))
})

it('the linter finds names of files that are not in kebab-case, and reasons that are not needed', async () => {
  const files = {
    'src/bus/theBus.ts': comments(1),
    'src/bus/json-bounds.test-d.ts': comments(1),
    'src/bus/short.ts': `/* oxlint-disable max-lines -- One table. */\n${comments(1)}`,
  }
  expect(await complaintsAbout(files)).toEqual([
    'directive src/bus/short.ts',
    'unicorn(filename-case) src/bus/theBus.ts',
  ])
})
