// What the compiler says about a program that uses the package wrongly, and where: at the property that is wrong. The program is compiled
// once, against the declarations in dist. «» mark the places where the errors must begin.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshTypes } from '../../../scripts/build.ts'

const root = join(import.meta.dirname, '../../..')

const executors = `
import { defineExecutor, type ExecutorTask } from 'errand'
import { z } from 'zod'
export const resize = defineExecutor({
  input: z.object({ dir: z.string(), width: z.number().default(800) }),
  result: z.object({ count: z.number() }),
  run: () => ({ count: 1 }),
})
export const greet = (task: ExecutorTask<{ name: string }>) => task.input.name
declare module 'errand' {
  interface Executors {
    resize: typeof resize
    greet: typeof greet
  }
}
`

const imports = `
import { createEngine, type Engine, type Run, type Task } from 'errand'
import { z } from 'zod'
import { greet, resize } from './executors.ts'
declare const run: Run
declare const anyEngine: Engine
const engine = await createEngine({ executors: { resize, greet } })
const producer = await createEngine({ work: false })
`

/** A program that compiles. */
const correct = `
const photo: Task<{ count: number }> = await run.spawn({ executor: 'resize', input: { dir: 'photos' } })
const [photos, text] = await run.wait([photo, await run.spawn({ executor: 'greet', input: { name: 'Ada' } })])
const sum: number = photos.count + text.length + (await run.wait(photo)).count
const goesOn: boolean = await run.ask('Go on?', z.boolean())
const greeting: Task<string> = await producer.create({ executor: 'greet', input: { name: 'Ada' } })
await anyEngine.create({ executor: 'elsewhere', input: 7 })
export { goesOn, greeting, sum }
`

const noSuchExecutor = /'"resise"' is not assignable to type .*"resize".*Did you mean '"resize"'/
const notString = /^Type 'number' is not assignable to type 'string'/
const noSuchOption = /'prioritty' does not exist .*Did you mean to write 'priority'/
const noInput = /Property 'input' is missing in type '{ executor: "?\w+.*' but required/

const wrong: Array<[what: string, line: string, message: RegExp]> = [
  ['a misspelt option', `await engine.create({ name: 'a', «»prioritty: 3 })`, noSuchOption],
  [
    'a misspelt option beside an executor',
    `await engine.create({ executor: 'greet', input: { name: 'a' }, «»prioritty: 3 })`,
    noSuchOption,
  ],
  [
    'a wrong value of an option',
    `await engine.create({ name: 'a', «»priority: 'high' })`,
    /'string' is not assignable/,
  ],
  ['a wrong input', `await engine.create({ executor: 'resize', input: { «»dir: 7 } })`, notString],
  ['a wrong input of an executor value', `await engine.create({ executor: resize, input: { «»dir: 7 } })`, notString],
  [
    'a misspelt key of an input',
    `await engine.create({ executor: 'greet', input: { «»nam: 'a' } })`,
    /'nam' does not exist in type '{ name: string; }'.* Did you mean to write 'name'/,
  ],
  ['a missing input', `await engine.create(«»{ executor: 'resize' })`, noInput],
  ['an unknown executor', `await engine.create({ «»executor: 'resise', input: { dir: 'a' } })`, noSuchExecutor],
  [
    'an unknown executor in a list',
    `await engine.create([{ name: 'a' }, { «»executor: 'resise', input: { dir: 'a' } }])`,
    noSuchExecutor,
  ],
  ['a wrong input in a list', `await engine.create([{ executor: 'resize', input: { «»dir: 7 } }])`, notString],
  ['a missing input in a list', `await engine.create([{ name: 'a' }, «»{ executor: resize }])`, noInput],
  ['a misspelt option in a list', `await engine.create([{ name: 'a' }, { name: 'b', «»prioritty: 3 }])`, noSuchOption],
  [
    'an unknown executor in a tree',
    `await engine.create({ name: 'a', tasks: { b: { tasks: { c: { «»executor: 'resise' } } } } })`,
    noSuchExecutor,
  ],
  [
    'a wrong input in a tree',
    `await engine.create({ name: 'a', tasks: { b: { tasks: { c: { executor: resize, input: { «»dir: 7 } } } } } })`,
    notString,
  ],
  ['a missing input in a tree', `await engine.create({ name: 'a', tasks: { «»b: { executor: 'greet' } } })`, noInput],
  ['a misspelt option in a tree', `await engine.create({ name: 'a', tasks: { b: { «»prioritty: 3 } } })`, noSuchOption],
  ['a name that is not declared', `await run.spawn({ «»executor: 'resise', input: { dir: 'a' } })`, noSuchExecutor],
  ['a wrong input of a declared name', `await run.spawn({ executor: 'resize', input: { «»dir: 7 } })`, notString],
  ['a name of a producer', `await producer.create({ «»executor: 'resise', input: { dir: 'a' } })`, noSuchExecutor],
  [
    'a result',
    `export const «»answer: string = (await run.wait(await run.spawn({ executor: resize, input: { dir: 'a' } }))).count`,
    notString,
  ],
]

let folder = ''
let errors: Array<{ file: string; place: string; message: string }> = []

beforeAll(async () => {
  await freshTypes()
  folder = mkdtempSync(join(tmpdir(), 'errand-types-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules/errand'))
  symlinkSync(join(root, 'node_modules/zod'), join(folder, 'node_modules/zod'))
  const program = imports + wrong.map(([, line]) => line).join('\n')
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    module: 'nodenext',
    strict: true,
    skipLibCheck: false,
    noEmit: true,
    allowImportingTsExtensions: true,
    typeRoots: [join(root, 'node_modules/@types')],
    types: ['node'],
  }
  const files = {
    'package.json': '{"type":"module"}',
    'tsconfig.json': JSON.stringify({ compilerOptions, files: ['correct.ts', 'wrong.ts'] }),
    'executors.ts': executors,
    'correct.ts': imports + correct,
    'wrong.ts': program.replaceAll('«»', ''),
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const stdout = await new Promise<string>((resolve) => {
    const args = ['-p', folder, '--pretty', 'false']
    execFile(join(root, 'node_modules/.bin/tsc'), args, { cwd: folder }, (_error, out) => resolve(out))
  })
  errors = stdout
    .split(/\n(?=\S)/)
    .filter((text) => text.trim() !== '')
    .map((text) => {
      const [, file = '', place = '', message = text] = /^(.*?)\((\d+,\d+)\): error \w+: (.*)$/s.exec(text) ?? []
      return { file, place, message: message.replaceAll(/\s+/g, ' ') }
    })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('The compiler', () => {
  it('the compiler accepts results, lists and names that the program declares, and the declarations themselves', () => {
    expect(errors.filter(({ file }) => file !== 'wrong.ts')).toEqual([])
  })

  it.each(wrong.map(([what, line, message], index) => ({ what, line, message, index })))(
    'the compiler reports $what at its place, and why',
    ({ line, message, index }) => {
      const place = `${imports.split('\n').length + index},${line.indexOf('«»') + 1}`
      const here = errors.filter((error) => error.place.startsWith(`${place.split(',')[0]},`))
      expect(here.map((error) => error.place)).toEqual([place])
      expect(here[0]?.message).toMatch(message)
      expect(here[0]?.message).not.toContain('readonly (CreateOptions')
    },
  )

  it('the compiler reports nothing else', () => {
    expect(errors).toHaveLength(wrong.length)
  })
})
