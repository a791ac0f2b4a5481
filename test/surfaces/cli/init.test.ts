// `errand init`: what it writes runs as it stands, and it overwrites nothing.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { Workplace } from './workplace.ts'

const root = resolve(import.meta.dirname, '../../..')

/** Installs this package in the folder. */
function install(place: Workplace): void {
  mkdirSync(join(place.folder, 'node_modules'))
  symlinkSync(root, join(place.folder, 'node_modules/errand'))
}

it('errand init writes a plan and a program with an executor, and both run', async () => {
  await using place = new Workplace()
  install(place)
  const { code, out } = await place.errand('init')
  expect(code).toBe(0)
  expect(out).toMatch(/^wrote plan\.yaml\n(?:wrote .+\n){3}\nRun the plan: +npx errand run plan\.yaml\n/)

  const run = await place.start('run', 'plan.yaml').ended
  expect(run).toMatchObject({ code: 0, out: expect.stringContaining('3 tasks completed') })
  expect(place.lines('report.txt')).toEqual(['The notes have 9 words.'])
  const count = () => execFileSync(process.execPath, ['count-words.mjs'], { cwd: place.folder, encoding: 'utf8' })
  expect(count()).toBe('{ files: 2, words: 9 }\n')
  place.write('notes/third.md', 'Not counted again: the key is that of a completed task.')
  expect(count()).toBe('{ files: 2, words: 9 }\n')
})

it('errand init names the folder of the next commands as a shell takes it', async () => {
  await using place = new Workplace()
  const { out } = await place.errand('init', "Ann's tasks")
  expect(out).toContain(`Run the plan:     cd 'Ann'\\''s tasks' && npx errand run plan.yaml`)
})

it('errand init names the JSON Schema of the installed package in the first line of the plan', async () => {
  await using place = new Workplace()
  const schemaOf = (folder: string) => {
    const plan = readFileSync(join(place.folder, folder, 'plan.yaml'), 'utf8')
    return /^# yaml-language-server: \$schema=(.+)\n/.exec(plan)?.[1] ?? ''
  }
  const isSchema = (file: string) => expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveProperty('$schema')

  expect((await place.errand('init', 'without')).code).toBe(0)
  isSchema(schemaOf('without'))
  install(place)
  expect((await place.errand('init')).code).toBe(0)
  expect(schemaOf('.')).toBe('./node_modules/errand/dist/plan.schema.json')
  expect((await place.errand('init', 'below/it')).code).toBe(0)
  expect(schemaOf('below/it')).toBe('../../node_modules/errand/dist/plan.schema.json')
  isSchema(resolve(place.folder, 'below/it', schemaOf('below/it')))
})

it('errand init refuses to overwrite a file, and writes nothing then', async () => {
  await using place = new Workplace()
  place.write('plan.yaml', 'mine')
  const { code, err } = await place.errand('init')
  expect(code).toBe(2)
  expect(err).toMatch(
    /^errand: Cannot write plan\.yaml: it already exists in .+\. Name another folder: errand init my-tasks\.\n$/,
  )
  expect(readFileSync(join(place.folder, 'plan.yaml'), 'utf8')).toBe('mine')
  expect(existsSync(join(place.folder, 'notes'))).toBe(false)

  place.write('taken', '')
  expect(await place.errand('init', 'taken/below')).toMatchObject({
    code: 2,
    err: expect.stringContaining(`Cannot write ${join(place.folder, 'taken/below/plan.yaml')}`),
  })
})
