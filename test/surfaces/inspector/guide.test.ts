// docs/guides/inspect.md and docs/guides/charts.md agree with the options, the machines and the defaults of the code.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { machineNames } from '../../../src/engine/machine-charts.ts'
import { inspectorOptionsSchema } from '../../../src/surfaces/inspector/serve-inspector.ts'

const textOf = (page: string) => readFileSync(join(import.meta.dirname, '../../../docs/guides', page), 'utf8')
const guide = textOf('inspect.md')

it('docs/guides/inspect.md lists the options of the inspector', () => {
  const table = guide.slice(guide.indexOf('| option |'), guide.indexOf('A message is one JSON'))
  const documented = Array.from(table.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm), ([, names = '']) =>
    names.replaceAll('`', '').split(', '),
  )
  expect(documented.flat().sort()).toEqual(Object.keys(inspectorOptionsSchema.shape).sort())
})

it('docs/guides/charts.md names every machine', () => {
  const [, names = ''] = /errand graph --machine (task +# or [\w, ]+)/.exec(textOf('charts.md')) ?? []
  expect(names.split(/\W+/).filter((word) => word !== 'or')).toEqual([...machineNames])
})

it('docs/guides/inspect.md states the default of historySize', () => {
  expect(guide).toContain(`\`historySize\` | ${inspectorOptionsSchema.parse({}).historySize} |`)
})
