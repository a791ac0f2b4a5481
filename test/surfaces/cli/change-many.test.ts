// `errand retry`, `cancel`, `pause`, `resume` and `rm` with options that choose the tasks.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Failure } from '../../../src/core/errors.ts'
import { createEngine } from '../../../src/engine/create-engine.ts'
import { Workplace } from './workplace.ts'

/** Fails three tasks, of which one has another code and tag. */
async function failThree(place: Workplace): Promise<void> {
  await using engine = await createEngine({
    ledger: join(place.folder, 'ledger.db'),
    executors: {
      work: ({ input }: { input: unknown }) => {
        throw new Failure('no', { code: String(input) })
      },
    },
  })
  await engine.create([
    { executor: 'work', input: 'DOWN', name: 'one', tags: ['a'], metadata: { customer: 7 } },
    { executor: 'work', input: 'DOWN', name: 'two', metadata: { customer: '7' } },
    { executor: 'work', input: 'REFUSED', name: 'three', tags: ['a'] },
  ])
  await engine.idle()
}

it('retries those that the options choose, and --dry-run only counts them', async () => {
  await using place = new Workplace()
  await failThree(place)
  expect(await place.errand('retry', '--code', 'DOWN', '--dry-run')).toMatchObject({
    code: 0,
    out: '2 tasks would be retried.\n',
  })
  expect((await place.tasks()).map(({ attempt }) => attempt)).toEqual([1, 1, 1])
  expect((await place.errand('retry', '--code', 'DOWN', '--tag', 'a', '--meta', 'customer=7')).out).toBe(
    '1 task retried.\n',
  )
  const json = JSON.parse((await place.errand('retry', '--executor', 'work', '--since', '1h', '--json')).out) as object
  expect(json).toMatchObject({ done: 2, refusedCount: 0, total: 2 })
  expect((await place.tasks()).map(({ attempt }) => attempt)).toEqual([2, 2, 2])
})

it('requires a choice, a name or --all, and refuses what it cannot read', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  const refused = async (...args: string[]) => {
    const { code, err } = await place.errand(...args)
    expect(code).toBe(2)
    return err
  }
  expect(await refused('cancel')).toContain('Which tasks?')
  expect(await refused('cancel', '--since', 'yesterday')).toContain('--since takes a time')
  expect(await refused('cancel', '--meta', 'customer')).toContain('--meta takes KEY=VALUE')
  expect(await refused('cancel', '--status', 'done')).toContain('--status takes one of')
  expect((await place.errand('cancel', '--all', '--reason', 'enough')).out).toBe('1 task canceled.\n')
  expect((await place.task('one')).statusReason).toBe('enough')
})

it('prints the refused ones with their reasons, and exits with 1', async () => {
  await using place = new Workplace()
  await place.errand('add', 'above')
  await place.errand('add', 'below', '--parent', '#1')
  await place.errand('add', 'free')
  const { code, out } = await place.errand('rm', '--all', '--children', 'refuse')
  expect(code).toBe(1)
  expect(out).toContain('2 tasks deleted, 1 refused:\n  #1 above: ')
})

it('errand ps takes the same options', async () => {
  await using place = new Workplace()
  await failThree(place)
  const named = async (...args: string[]) =>
    (await place.errand('ps', '--json', ...args)).out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { name: string }).name)
  expect(await named('--code', 'DOWN')).toEqual(['one', 'two'])
  expect(await named('--since', '1h', '--tag', 'a')).toEqual(['one', 'three'])
  expect(await named('--before', '1h')).toEqual([])
  expect(await named('--executor', 'work', '--all', '--text', 'TW')).toEqual(['two'])
  expect(await named('--meta', 'customer=7', '--status', 'failed')).toEqual(['one'])
  expect(await named('--executor', 'work')).toEqual([])
})

it('refuses options that choose tasks beside the name of one, which they would not restrict', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  for (const flags of [['--dry-run'], ['--all'], ['--status', 'failed']]) {
    const { code, err } = await place.errand('cancel', '#1', ...flags)
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(`${flags[0]} chooses tasks`) as string })
  }
  expect((await place.task('one')).status).toBe('submitted')
})

it('the command with which an interrupted change goes on has the options of the verb', async () => {
  await using place = new Workplace()
  await using engine = await createEngine({ ledger: join(place.folder, 'ledger.db'), work: false })
  await engine.create(Array.from({ length: 300 }, () => ({ name: 'x', tags: ['a b'] })))
  const { err } = await place.errand('cancel', '--tag', 'a b', '--since', '1h', '--reason', 'not needed')
  expect(err).toMatch(/"errand cancel --reason 'not needed' --tag 'a b' --since \S+ --before \S+" goes on/)
})
