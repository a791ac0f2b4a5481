// `errand machine`: what it imports, prints and exits with.
import { mkdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { Workplace } from './workplace.ts'

const root = resolve(import.meta.dirname, '../../..')

/** A folder with XState. */
function place(): Workplace {
  const workplace = new Workplace()
  mkdirSync(join(workplace.folder, 'node_modules'))
  symlinkSync(join(root, 'node_modules/xstate'), join(workplace.folder, 'node_modules/xstate'))
  return workplace
}

const imports = `import { createMachine } from 'xstate'\n`
const broken = `createMachine({ id: 'order', initial: 'waiting', states: { waiting: { entry: ['note', () => {}] } } })`
const fine = `createMachine({ id: 'fine' })`
const error =
  'error  order › waiting › entry[0]: The action "note" has no implementation. Add it to the actions of setup() or provide(), or correct the name.'
const warning =
  'warning  order › waiting › entry[1]: An inline action is found again by its place: moving it holds the tasks that have yet to perform it. Name it in the actions of setup().'

it('errand machine prints the findings of each exported machine, and exits with 1 if there is an error', async () => {
  await using folder = place()
  folder.write(
    'order.mjs',
    `${imports}export const order = ${broken}\nexport const same = order\nexport const small = ${fine}`,
  )
  expect(await folder.errand('machine', 'order.mjs')).toEqual({
    code: 1,
    out: [error, warning, 'order, same: 1 error, 1 warning', 'small: 0 errors, 0 warnings', ''].join('\n'),
    err: '',
  })
})

it('errand machine inspects the one export that is named, and the machine of an executor', async () => {
  await using folder = place()
  const mark = `Object.defineProperty(async () => {}, Symbol.for('errand.machine'), { value: ${fine} })`
  folder.write('order.mjs', `${imports}export const order = ${broken}\nexport const run = ${mark}\nexport const n = 1`)
  expect(await folder.errand('machine', 'order.mjs', 'run')).toEqual({
    code: 0,
    out: 'run: 0 errors, 0 warnings\n',
    err: '',
  })
  expect(await folder.errand('machine', 'order.mjs', 'ordr')).toEqual({
    code: 2,
    out: '',
    err: 'errand: order.mjs exports no machine "ordr". Did you mean "order"? Its machines are: order, run.\n',
  })
})

it('errand machine --json prints a line for each machine', async () => {
  await using folder = place()
  folder.write('order.mjs', `${imports}export const order = ${broken}\nexport const small = ${fine}`)
  const { code, out } = await folder.errand('machine', 'order.mjs', '--json')
  expect(code).toBe(1)
  const [first, second] = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
  expect(first).toEqual({
    exports: ['order'],
    machine: 'order',
    errors: 1,
    warnings: 1,
    findings: [
      {
        severity: 'error',
        place: 'order › waiting › entry[0]',
        problem: 'The action "note" has no implementation.',
        remedy: 'Add it to the actions of setup() or provide(), or correct the name.',
      },
      expect.objectContaining({ severity: 'warning', place: 'order › waiting › entry[1]' }),
    ],
  })
  expect(second).toEqual({ exports: ['small'], machine: 'fine', errors: 0, warnings: 0, findings: [] })
})

it('errand machine exits with 2 for a file that is missing, cannot be imported, or exports no machine', async () => {
  await using folder = place()
  folder.write('throws.mjs', 'throw new Error("no database")')
  folder.write('none.mjs', `export const order = { root: {} }\nexport const run = async () => {}`)
  const outcomes = [
    await folder.errand('machine', 'absent.mjs'),
    await folder.errand('machine', 'throws.mjs'),
    await folder.errand('machine', 'none.mjs'),
  ]
  expect(outcomes).toEqual([
    { code: 2, out: '', err: 'errand: There is no file absent.mjs.\n' },
    { code: 2, out: '', err: 'errand: Cannot import throws.mjs: no database.\n' },
    {
      code: 2,
      out: '',
      err: 'errand: none.mjs exports no machine of XState 5, and no executor that machine() of errand/machine made of one.\n',
    },
  ])
})

it('errand machine, as a program, imports TypeScript and the XState of the file', async () => {
  await using folder = place()
  folder.write('order.mts', `${imports}export const order: object = ${broken}`)
  folder.write('order.txt', '')
  expect(await folder.start('machine', 'order.mts').ended).toMatchObject({
    code: 1,
    out: expect.stringContaining(error),
  })
  expect(await folder.start('machine', 'order.txt').ended).toMatchObject({
    code: 2,
    err: expect.stringContaining('Node imports JavaScript, and from version 22.18 on TypeScript'),
  })
})
