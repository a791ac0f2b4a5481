// Where a process id counts, with places as containers and hosts have them.
import { expect, it } from 'vitest'
import { placeOfProcess, sightOf } from '../../src/core/process-place.ts'

const here = 'web boot-1 pid:[1]'

it.each([
  ['the same namespace', 'web boot-1 pid:[1]', 'seen', 'seen'],
  ['another container of the host', 'web boot-1 pid:[2]', 'unseen', 'unseen'],
  ['the time before a restart of the host', 'web boot-0 pid:[1]', 'unseen', 'ended'],
  ['another host', 'db boot-9 pid:[1]', 'unseen', 'ended'],
  ['the host under another name', 'old boot-1 pid:[1]', 'unseen', 'seen'],
] as const)('a process of %s is %s to engines of several hosts', (_what, place, ofSeveral, ofOne) => {
  expect(sightOf(place, false, here)).toBe(ofSeveral)
  expect(sightOf(place, true, here)).toBe(ofOne)
})

it('a system without boots and namespaces goes by the name of the host alone', () => {
  expect(sightOf('mac', false, 'mac')).toBe('seen')
  expect(sightOf('mac', false, 'other')).toBe('unseen')
  expect(sightOf('mac', true, 'other')).toBe('seen')
})

it.runIf(process.platform === 'linux')(
  'the place of this process names its host, its boot and its PID namespace',
  () => {
    expect(placeOfProcess()).toMatch(/^\S+ [\da-f-]{36} pid:\[\d+\]$/)
  },
)
