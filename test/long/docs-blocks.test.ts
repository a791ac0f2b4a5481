// Every block of code in README.md and docs/ runs as it stands: programs print the text below them, those in TypeScript have no type
// errors, plans and scripts are accepted, and commands have no unknown options.
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { freshTypes } from '../../scripts/build.ts'
import { outputPattern } from '../../scripts/guide-blocks.ts'
import { guides } from '../../scripts/walk-guides.ts'
import { parseScript } from '../../src/agents/models/script.ts'
import { main } from '../../src/surfaces/cli/main.ts'
import { startModelServer } from '../agents/ai/model-server.ts'
import { allBlocks, emptyProject, pages, programs, root, runProgram } from '../documents.ts'
import { fakeIo } from '../surfaces/cli/fake-io.ts'
import { planOf } from '../surfaces/cli/plan-text.ts'

/** A part of an example of the repository, whose path is its label. */
const isOfExample = ({ label }: { label: string }) => label.startsWith('examples/')

const blocksOf = (language: string) => allBlocks.filter((block) => block.language === language && !isOfExample(block))

it('every block of code names its language, and this test knows how to check it', () => {
  const checked = ['js', 'ts', 'sh', 'sql', 'yaml', 'json', 'text']
  const shown = ['mermaid', 'md', 'toml', 'dockerfile', 'ini']
  expect(allBlocks.filter(({ language }) => ![...checked, ...shown].includes(language))).toEqual([])
  expect(programs.length).toBeGreaterThan(25)
  expect(pages.length).toBeGreaterThan(15)
})

describe('programs', () => {
  // The programs of this page are the quick starts of the vocabularies.
  const titled = programs.map((block) => ({
    ...block,
    title: `${block.page === 'docs/understand/other-designs.md' ? 'X-036 ' : ''}block ${block.number} of ${block.page}`,
  }))
  it.each(titled)('$title runs unchanged and prints the text below it', async (program) => {
    const server = await startModelServer([[{ id: 'c1', name: 'search', input: { query: 'tides' } }], 'The moon.'])
    const { code, out, err } = await runProgram(program, { LOCAL_BASE_URL: server.baseURL })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    if (!outputPattern(program.shown).test(out)) expect(out).toBe(program.shown)
  })

  it.each(allBlocks.filter(isOfExample))('block $number of $page stands in $label', ({ label, text }) => {
    expect(readFileSync(join(root, label), 'utf8')).toContain(text)
  })

  it('programs that a reader saves are in the guides, which are walked; others are only compiled', () => {
    const saved = allBlocks.filter(
      (block) => /^[jt]s$/.test(block.language) && block.label !== '' && !isOfExample(block),
    )
    const others = saved.filter(({ page }) => !guides.includes(page))
    expect(others.map(({ page, language, label }) => [page, language, label])).toEqual([
      // It opens a browser.
      ['docs/guides/inspect.md', 'ts', 'stately.ts'],
    ])
  })

  it('programs in TypeScript have no type errors', async () => {
    const folder = emptyProject()
    const typed = blocksOf('ts')
    mkdirSync(join(folder, 'programs'))
    symlinkSync(join(root, 'node_modules'), join(folder, 'programs/node_modules'))
    writeFileSync(join(folder, 'programs/package.json'), '{ "type": "module" }')
    // The files that a page has saved import each other.
    for (const { page, number, label, text } of typed) {
      const place = join(folder, 'programs', page.replaceAll(/\W/g, '-'))
      mkdirSync(place, { recursive: true })
      writeFileSync(join(place, label === '' ? `${number}.ts` : label), text)
    }
    await freshTypes()
    const config = {
      extends: join(root, 'tsconfig.json'),
      // They import the declarations of the package, not the source.
      compilerOptions: { typeRoots: [join(root, 'node_modules/@types')], paths: {} },
      include: ['programs/*/*'],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const tsc = join(root, 'node_modules/.bin/tsc')
    const { stdout } = await promisify(execFile)(tsc, ['-p', folder], { cwd: folder }).catch((error) => error)
    expect(stdout).toBe('')
    expect(typed.length).toBeGreaterThan(8)
  }, 240_000)
})

describe('plans, scripts and settings', () => {
  const isForContainers = ({ text }: { text: string }) => /^(?:apiVersion|services):/m.test(text)

  it.each(blocksOf('yaml').filter(isForContainers))(
    'block $number of $page describes objects or services by name',
    ({ text }) => {
      const documents = parseAllDocuments(text)
      expect(documents.flatMap(({ errors }) => errors)).toEqual([])
      for (const document of documents) {
        const { kind, metadata, services } = document.toJS()
        if (services === undefined) expect([kind, metadata.name]).toEqual([expect.any(String), expect.any(String)])
        else expect(Object.keys(services).length).toBeGreaterThan(0)
      }
    },
  )

  it.each(blocksOf('yaml').filter((block) => !isForContainers(block)))(
    'block $number of $page is a plan or a script that is accepted',
    ({ text }) => {
      const isPlan = /^tasks:/m.test(text)
      expect(isPlan ? planOf(text).tasks.length : parseScript(text).length).toBeGreaterThan(0)
    },
  )

  it.each(blocksOf('sql'))('block $number of $page is what the example of a cluster runs', ({ text }) => {
    const example = readFileSync(join(root, 'examples/cluster/roles.sh'), 'utf8')
    expect(example.replaceAll(/ password :'\w+'/g, '')).toContain(text.trim())
  })

  it.each(blocksOf('json'))('block $number of $page is JSON', ({ text }) => {
    expect(JSON.parse(text)).toBeTypeOf('object')
  })
})

/** The commands of a block that call errand, each as its arguments. */
function errandCommands(text: string): string[][] {
  const words = /'[^']*'|"[^"]*"|#.*|&&|[;|&\n]|[^\s;|&]+/g
  const commands: string[][] = [[]]
  for (const [word] of text.replaceAll('\\\n', ' ').matchAll(words)) {
    if (/^(?:&&|[;|&\n])$/.test(word)) commands.push([])
    else if (!word.startsWith('#')) commands.at(-1)?.push(word.replaceAll(/^['"]|['"]$/g, ''))
  }
  return commands.flatMap((command) => {
    const [first, ...rest] = command.filter((word) => word !== '--no-install')
    if (first === 'errand') return [rest]
    return first === 'npx' && rest[0] === 'errand' ? [rest.slice(1)] : []
  })
}

describe('commands', () => {
  it('errandCommands finds the calls of errand in a block', () => {
    expect(
      errandCommands(`npx errand ps --all; errand answer '#3' true  # errand none\nclaude mcp add errand -- x\n`),
    ).toEqual([
      ['ps', '--all'],
      ['answer', '#3', 'true'],
    ])
  })

  // The commands of the guides are carried out, by the walk through them.
  const commands = blocksOf('sh')
    .filter(({ page }) => !guides.includes(page))
    .flatMap(({ page, text }) => errandCommands(text).map((args) => ({ page, args, command: args.join(' ') })))
  it.each(commands)('$page: errand $command has only verbs and options that exist', async ({ args }) => {
    const io = fakeIo({ cwd: root, env: {} })
    expect([await main([...args, '--help'], io), io.err()]).toEqual([0, ''])
  })
})
