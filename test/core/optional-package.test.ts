// Packages that only some surfaces need.
import { expect, it } from 'vitest'
import { loadOptional } from '../../src/core/optional-package.ts'

const missing = (name: string) =>
  Object.assign(new Error(`Cannot find package '${name}' imported from x`), { code: 'ERR_MODULE_NOT_FOUND' })

it('an optional package that is missing is named with the command that installs it', async () => {
  await expect(loadOptional('ws', 'Serving', () => Promise.reject(missing('ws')))).rejects.toMatchObject({
    code: 'NOT_OFFERED',
    message: 'Serving needs the package ws, which is not installed. Install it with: npm install ws',
  })
})

it('another error of an optional package is not taken for its absence', async () => {
  for (const error of [new Error('broken'), missing('its-own-dependency')]) {
    await expect(loadOptional('ws', 'Serving', () => Promise.reject(error))).rejects.toBe(error)
  }
})
