// Deadlines, families, retries and claims in a plan: how they are parsed, and their effect when the plan is run.
import { describe, expect, it } from 'vitest'
import { ErrandError } from '../../src/core/errors.ts'
import type { Task } from '../../src/entities/task.ts'
import { deadlineOf } from '../../src/plans/plan.ts'
import { openLedger } from '../../src/testing/index.ts'
import { planOf } from '../surfaces/cli/plan-text.ts'
import { Workplace } from '../surfaces/cli/workplace.ts'

const taskOf = (text: string) => planOf(`tasks:\n  a: ${text}`).byPath.get('a')

describe('a plan', () => {
  it('a plan takes policies, tags and concurrency on a task and on a group', () => {
    expect(
      taskOf('{ run: x, onDependencyFailure: ignore, onChildFailure: fail, concurrency: 2, tags: [a, b] }')?.spec,
    ).toMatchObject({ onDependencyFailure: 'ignore', onChildFailure: 'fail', concurrency: 2, tags: ['a', 'b'] })
    expect(
      taskOf('{ tasks: { b: { run: x } }, concurrency: 1, onChildFailure: cancel-siblings, tags: [a] }')?.spec,
    ).toEqual({ name: 'a', concurrency: 1, onChildFailure: 'cancel-siblings', tags: ['a'] })
  })

  it('a plan takes policies about children and parent on a task whose executor creates children', () => {
    expect(taskOf('{ run: x, autoComplete: all-settled, notifyParent: true }')?.spec).toMatchObject({
      autoComplete: 'all-settled',
      notifyParent: true,
    })
  })

  it('a plan reads a deadline as a time, or as a duration from the creation or the retry of the task', () => {
    const at = Date.UTC(2030, 0, 31, 8)
    for (const text of ['2030-01-31T08:00:00Z', '"2030-01-31T08:00:00Z"']) {
      expect(deadlineOf(taskOf(`{ run: x, deadline: ${text} }`)!, 5)).toBe(at)
    }
    expect(deadlineOf(taskOf('{ tasks: { b: { run: x } }, deadline: 2h }')!, 5)).toBe(7_200_005)
    expect(deadlineOf(taskOf('{ run: x }')!, 5)).toBeUndefined()
  })

  it('a plan reads the whole retry policy, with maxBackoff as a duration or in milliseconds', () => {
    expect(
      taskOf(
        '{ run: x, retry: { maxAttempts: 3, backoff: exponential, backoffMs: 5, jitter: 0.5, maxBackoff: 5m, on: [TIMEOUT, X] } }',
      )?.spec.retry,
    ).toEqual({
      maxAttempts: 3,
      backoff: 'exponential',
      backoffMs: 5,
      jitter: 0.5,
      maxBackoffMs: 300_000,
      on: ['TIMEOUT', 'X'],
    })
    expect(taskOf('{ run: x, retry: { maxBackoffMs: 7, on: TIMEOUT } }')?.spec.retry).toEqual({
      maxBackoffMs: 7,
      on: ['TIMEOUT'],
    })
  })

  it('a plan turns a task with a role into one that waits to be claimed', () => {
    expect(taskOf('{ role: reviewer, tags: [x], input: { n: 1 } }')).toMatchObject({
      group: false,
      spec: { name: 'a', role: 'reviewer', tags: ['x'], input: { n: 1 } },
    })
  })

  it('the hash of a definition does not depend on when it is parsed', () => {
    const hash = (text: string) => taskOf(text)?.definitionHash
    expect(hash('{ run: x, deadline: 2h }')).toBe(hash('{ run: x, deadline: 2h }'))
    expect(hash('{ run: x, deadline: 2h }')).not.toBe(hash('{ run: x, deadline: 3h }'))
    expect(hash('{ run: x, retry: { maxAttempts: 2 } }')).not.toBe(
      hash('{ run: x, retry: { maxAttempts: 2, jitter: 1 } }'),
    )
  })

  it.each([
    ['a bare deadline', '{ run: x, deadline: 90 }', /90 has no unit.*Write 90s/],
    [
      'a deadline that is none',
      '{ run: x, deadline: soon }',
      /expected a time that exists, like .* or a duration like .*, got "soon"/,
    ],
    [
      'a deadline on a day that does not exist',
      '{ run: x, deadline: 2027-02-30 }',
      /expected a time that exists, like .*, got "2027-02-30"/,
    ],
    ['a start at a time that does not exist', '{ run: x, notBefore: 2027-04-31T08:00 }', /expected a time that exists/],
    [
      'an unknown policy',
      '{ run: x, onChildFailure: cancel }',
      /onChildFailure: expected one of .*got "cancel"\. Did you mean "cancel-siblings"/,
    ],
    ['a slip in a key', '{ run: x, dedline: 2h }', /no key "dedline"\. Did you mean "deadline"\?/],
    ['a slip in a policy key', '{ run: x, onDependencyFail: ignore }', /Did you mean "onDependencyFailure"\?/],
    ['a slip in retry', '{ run: x, retry: { maxBackof: 5m } }', /Did you mean "maxBackoff"\?/],
    ['no room at all', '{ tasks: { b: { run: x } }, concurrency: 0 }', /at least one task/],
    ['tags that are no list', '{ run: x, tags: a }', /expected a list of words/],
    ['a role beside a command', '{ run: x, role: reviewer }', /both `run` and `role`/],
    ['a time-out of a claim', '{ role: reviewer, timeout: 5m }', /`timeout`, which means nothing beside `role`/],
    [
      'both longest rests',
      '{ run: x, retry: { maxBackoff: 5m, maxBackoffMs: 5 } }',
      /`maxBackoff` and `maxBackoffMs`.*keep one/,
    ],
    ['jitter beyond all', '{ run: x, retry: { jitter: 2 } }', /retry\.jitter: .*<=1/],
  ])('a plan is refused with %s', (_what, text, words) => {
    let refusal: unknown
    try {
      taskOf(text)
    } catch (error) {
      refusal = error
    }
    expect(ErrandError.isInstance(refusal) && refusal.code).toBe('INVALID_PLAN')
    expect(String(refusal)).toMatch(words)
  })
})

describe('errand run', () => {
  it('errand run refuses notifyParent on a task without a parent, and creates nothing', async () => {
    await using place = new Workplace()
    place.write('plan.yaml', 'tasks: { a: { run: "true", notifyParent: true } }')
    expect(await place.errand('run', 'plan.yaml')).toMatchObject({
      code: 2,
      err: expect.stringContaining('`notifyParent` has no effect on "a": its parent'),
    })
    expect((await place.errand('ps', '--all', '--json')).out).toBe('')
  })

  it('errand run gives a waiting task the present policies, and removes those that the plan no longer has', async () => {
    await using place = new Workplace()
    const write = (policies: string) =>
      place.write('plan.yaml', `tasks: { a: { run: "true", autoStart: false${policies} }, b: { run: "true" } }`)
    const policy = async () => {
      const ledger = await openLedger(`${place.folder}/ledger.db`)
      const { id } = await place.task('a')
      const found = await ledger.read((tx) => tx.task.get(id))
      await ledger.close()
      return found?.policy
    }
    write(', autoComplete: true, onChildFailure: fail, timeout: 5m')
    await place.errand('run', 'plan.yaml')
    expect(await policy()).toEqual({ autoComplete: true, onChildFailure: 'fail', timeoutMs: 300_000 })
    write(', onDependencyFailure: ignore')
    await place.errand('run', 'plan.yaml')
    expect(await policy()).toEqual({ onDependencyFailure: 'ignore' })
  })

  const deadlineIn = (task: Task) => (task.deadline ?? 0) - task.createdAt

  it('errand run sets a relative deadline when it creates a task, and again when it retries it', async () => {
    await using place = new Workplace()
    place.write(
      'plan.yaml',
      'tasks: { a: { run: "test -e fine", deadline: 2h }, g: { deadline: 3h, tasks: { b: { run: "true" } } } }',
    )
    expect((await place.errand('run', 'plan.yaml')).code).toBe(1)
    const first = await place.task('a')
    expect(Math.abs(deadlineIn(first) - 7_200_000)).toBeLessThan(60_000)
    expect(Math.abs(deadlineIn(await place.task('g')) - 10_800_000)).toBeLessThan(60_000)
    place.write('fine', '')
    expect((await place.errand('run', 'plan.yaml')).code).toBe(0)
    const again = await place.task('a')
    expect(again).toMatchObject({ id: first.id, attempt: 2 })
    expect(again.deadline).toBeGreaterThan(first.deadline ?? 0)
  })

  it('errand run lets a task that misses its deadline fail, and retries it with a new one', async () => {
    await using place = new Workplace()
    place.write('plan.yaml', 'tasks: { a: { run: "while [ ! -e go ]; do sleep 0.02; done", deadline: 300ms } }')
    expect((await place.errand('run', 'plan.yaml')).code).toBe(1)
    expect((await place.task('a')).error).toMatchObject({ code: 'TIMEOUT' })
    place.write('go', '')
    place.write('plan.yaml', 'tasks: { a: { run: "while [ ! -e go ]; do sleep 0.02; done", deadline: 1h } }')
    expect((await place.errand('run', 'plan.yaml')).code).toBe(0)
  })

  it('errand run keeps a group to its concurrency, and goes on after a failure or cancels the siblings', async () => {
    await using place = new Workplace()
    const alone = 'mkdir lock && sleep 0.05 && rmdir lock'
    place.write(
      'plan.yaml',
      `
tasks:
  one: { concurrency: 1, tasks: { a: { run: ${alone} }, b: { run: ${alone} }, c: { run: ${alone} } } }
  pair: { onChildFailure: cancel-siblings, tasks: { bad: { run: "false" }, never: { run: "true", after: bad } } }
  bold: { run: echo bold >> order, after: pair, onDependencyFailure: ignore }
  meek: { run: echo meek >> order, after: pair, onDependencyFailure: cancel }
`,
    )
    expect((await place.errand('run', 'plan.yaml')).code).toBe(1)
    const statuses = Object.fromEntries((await place.tasks()).map((task) => [task.name, task.status]))
    expect(statuses).toMatchObject({
      one: 'completed',
      bad: 'failed',
      never: 'canceled',
      bold: 'completed',
      meek: 'canceled',
    })
    expect(place.lines('order')).toEqual(['bold'])
  })

  it('errand run gives open tasks the policies of a changed plan', async () => {
    await using place = new Workplace()
    const write = (more: string) =>
      place.write('plan.yaml', `tasks: { q: { ask: Which? }, a: { run: "true", after: q${more} } }`)
    write('')
    expect((await place.errand('run', 'plan.yaml')).code).toBe(3)
    write(', tags: [x], deadline: 2h, onDependencyFailure: cancel, retry: { maxAttempts: 2, jitter: 0.5 }')
    expect((await place.errand('run', 'plan.yaml')).code).toBe(3)
    const changed = await place.task('a')
    expect(changed.tags).toEqual(['x'])
    expect(changed.deadline).toBeGreaterThan(Date.now())
    expect((await place.errand('run', 'plan.yaml')).code).toBe(3)
    expect((await place.task('a')).deadline).toBe(changed.deadline)
    write('')
    expect((await place.errand('run', 'plan.yaml')).code).toBe(3)
    expect(await place.task('a')).toMatchObject({ tags: [], deadline: null })
  })

  it('errand run waits for the claim of a task with a role, and passes its result on', async () => {
    await using place = new Workplace()
    place.write(
      'plan.yaml',
      'tasks: { draft: { run: echo draft }, review: { role: reviewer, after: draft }, publish: { run: echo "$ERRAND_RESULT_review" >> out, after: review } }',
    )
    const first = await place.errand('run', 'plan.yaml')
    expect(first.code).toBe(3)
    expect(first.out).toMatch(/· #\d+ review waits to be claimed\n +errand claim '#\d+' --as NAME --role reviewer\n/)
    expect((await place.errand('claim', '--as', 'ann')).code).toBe(1)
    const claimed = JSON.parse((await place.errand('claim', '--as', 'ann', '--role', 'reviewer', '--json')).out) as Task
    expect(claimed.name).toBe('review')
    const run = place.start('run', 'plan.yaml')
    expect((await place.errand('complete', claimed.id, '--as', 'ann', 'looks', 'good')).code).toBe(0)
    expect((await run.ended).code).toBe(0)
    expect(place.lines('out')).toEqual(['looks good'])
  })

  it('errand run refuses to turn a task that waits to be claimed into a command within a round', async () => {
    await using place = new Workplace()
    place.write('plan.yaml', 'tasks: { a: { role: reviewer } }')
    expect((await place.errand('run', 'plan.yaml')).code).toBe(3)
    place.write('plan.yaml', 'tasks: { a: { run: "true" } }')
    const refused = await place.errand('run', 'plan.yaml')
    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringContaining('"a" was a task to be claimed when this round began and is a task now'),
    })
    expect((await place.errand('run', 'plan.yaml', '--again')).code).toBe(0)
  })
})
