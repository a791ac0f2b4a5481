// Packages that only some surfaces need.
import { expect, it } from 'vitest'
import { notInstalled } from '../../src/core/optional-package.ts'

const missing = (name: string, code = 'ERR_MODULE_NOT_FOUND') =>
  Object.assign(new Error(`Cannot find package '${name}' imported from x`), { code })

it.each([
  ['ws', missing('ws')],
  ['@ai-sdk/openai-compatible', missing('@ai-sdk/openai-compatible', 'MODULE_NOT_FOUND')],
])('the optional package %s that is missing is named with the command that installs it', (name, error) => {
  expect(notInstalled(error, name, 'Serving')).toMatchObject({
    code: 'NOT_OFFERED',
    message: `Serving needs the package ${name}, which is not installed. Install it with: npm install ${name}`,
    cause: error,
  })
})

it('another error of an optional package is not taken for its absence', () => {
  for (const error of [new Error('broken'), missing('its-own-dependency')])
    expect(notInstalled(error, 'ws', 'Serving')).toBe(error)
})
