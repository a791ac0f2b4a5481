// Where packages are looked for: beside this one first, and elsewhere only when they are not there.
import { expect, it } from 'vitest'
import { fromOwnPlace } from '../../src/core/own-require.ts'

const failing = (error: Error) => {
  let looked = 0
  const found = () =>
    fromOwnPlace(() => {
      looked += 1
      throw error
    })
  expect(found).toThrow(error)
  return looked
}

it('looks elsewhere for a package that is not there', () => {
  expect(failing(Object.assign(new Error('not found'), { code: 'MODULE_NOT_FOUND' }))).toBeGreaterThan(1)
})

it('says why a package beside this one does not load, and loads no other one from the working directory', () => {
  expect(failing(Object.assign(new Error('another ABI'), { code: 'ERR_DLOPEN_FAILED' }))).toBe(1)
  expect(failing(new Error('no bindings'))).toBe(1)
})
