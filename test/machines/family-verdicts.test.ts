// The verdicts on broken relatives: what a failed child and a broken dependency mean, for every state and policy.
import { describe, expect, it } from 'vitest'
import { isSettled, type TaskPolicy, taskStatuses } from '../../src/entities/task.ts'
import { childFailurePolicies, dependencyFailurePolicies } from '../../src/entities/task-fields.ts'
import { isBroken } from '../../src/machines/family.ts'
import { taskOf } from './task-of.ts'
import { childFailureVerdict, dependencyVerdict } from './verdicts.ts'

describe('the final failure of a child', () => {
  it('Q-06 the final failure of a child has the effect of its open parent’s policy, and none by default', () => {
    for (const status of taskStatuses) {
      for (const onChildFailure of [undefined, ...childFailurePolicies]) {
        const policy: TaskPolicy = onChildFailure === undefined ? {} : { onChildFailure }
        const verdict = childFailureVerdict(taskOf({ status, policy }))
        const acts = !isSettled(status) && onChildFailure !== undefined && onChildFailure !== 'ignore'
        expect(verdict, `${status} ${String(onChildFailure)}`).toBe(acts ? onChildFailure : null)
        expect(childFailureVerdict(taskOf({ status, policy, deletedAt: 5 }))).toBeNull()
      }
    }
  })
})

describe('the end of a dependency', () => {
  it('C-52 C-53 a dependency that is completed or deleted is satisfied under every policy, for every dependent', () => {
    for (const status of taskStatuses) {
      for (const onDependencyFailure of dependencyFailurePolicies) {
        const dependent = taskOf({ status, policy: { onDependencyFailure } })
        expect(dependencyVerdict(dependent, { status: 'completed', deletedAt: null })).toBe('satisfy')
        for (const ended of taskStatuses)
          expect(dependencyVerdict(dependent, { status: ended, deletedAt: 5 })).toBe('satisfy')
      }
    }
  })

  it('C-52 a failed or canceled dependency has the effect of the open dependent’s policy, and none by default', () => {
    const means = { block: null, cancel: 'cancel', ignore: 'satisfy' } as const
    for (const status of taskStatuses) {
      for (const broken of ['failed', 'canceled'] as const) {
        for (const onDependencyFailure of dependencyFailurePolicies) {
          const verdict = dependencyVerdict(taskOf({ status, policy: { onDependencyFailure } }), {
            status: broken,
            deletedAt: null,
          })
          expect(verdict).toBe(isSettled(status) ? null : means[onDependencyFailure])
        }
        expect(dependencyVerdict(taskOf({ status, policy: {} }), { status: broken, deletedAt: null })).toBeNull()
      }
    }
  })

  it('an open dependency changes nothing', () => {
    for (const status of taskStatuses.filter((each) => !isSettled(each))) {
      const dependent = taskOf({ policy: { onDependencyFailure: 'cancel' } })
      expect(dependencyVerdict(dependent, { status, deletedAt: null })).toBeNull()
    }
  })

  it('isBroken is true for failed and canceled only', () => {
    expect(taskStatuses.filter(isBroken)).toEqual(['failed', 'canceled'])
  })
})
