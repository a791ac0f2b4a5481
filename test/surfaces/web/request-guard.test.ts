// Secrets and tokens of requests.
import { expect, it } from 'vitest'
import { secretCheck, tokenCheck } from '../../../src/surfaces/web/request-guard.ts'

const secret = 'a-token-that-is-long-enough-for-a-test'

it('a secret check accepts the secret only', () => {
  const isSecret = secretCheck(secret)
  expect(isSecret(secret)).toBe(true)
  const others = [
    '',
    secret.slice(0, -1),
    `${secret}x`,
    `${secret}\0`,
    secret.toUpperCase(),
    `${secret.slice(0, -1)}é`,
    `${secret}${secret}`,
  ]
  expect(others.filter(isSecret)).toEqual([])
})

it('a secret check of a secret with letters of several bytes accepts it only', () => {
  const isSecret = secretCheck('schlüssel')
  expect(['schlüssel', 'schlussel', 'schl\u00c3ssel', 'schlüsse', 'schlüssel '].map(isSecret)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ])
})

it.each([
  [`Bearer ${secret}`, true],
  [`bearer   ${secret}`, true],
  [secret, false],
  [`Basic ${secret}`, false],
  [`Bearer ${secret} x`, false],
  ['Bearer', false],
])('a token check of the header %s says %s', (authorization, isToken) => {
  expect(tokenCheck(secret)({ headers: new Headers({ authorization }) })).toBe(isToken)
})

it('a token check refuses a request without the header', () => {
  expect(tokenCheck(secret)({ headers: new Headers() })).toBe(false)
})
