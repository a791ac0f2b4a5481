// The stored image of a task's machine: our own JSON, restored from the row, and every way in which it can be wrong.
import { describe, expect, it } from 'vitest'
import { taskStatuses } from '../../src/entities/task.ts'
import { taskMachine } from '../../src/machines/task-machine.ts'
import { readSnapshot, snapshotFault, snapshotsOf, writeSnapshot } from '../../src/machines/task-snapshot.ts'
import { taskOf } from './task-of.ts'

describe('the snapshot', () => {
  it.each(taskStatuses)('the snapshot of a %s task is version, value and context, and restores the task', (status) => {
    const task = taskOf({ status, name: 'quotes " and \n lines', attempt: 2, run: 3 })
    expect(JSON.parse(writeSnapshot(task))).toEqual({
      version: 1,
      value: status,
      context: { taskId: 'task-a', name: task.name, attempt: 2, run: 3 },
    })
    expect(snapshotFault(task)).toBeNull()
    const { value, context, fault } = readSnapshot(task)
    const restored = snapshotsOf(taskMachine)(value, context)
    expect([restored.value, fault]).toEqual([status, null])
    expect(restored.context).toEqual({ taskId: 'task-a', name: task.name, attempt: 2, run: 3 })
  })

  it.each([
    ['', 'it is not JSON'],
    ['{"version":1', 'it is not JSON'],
    ['null', 'it is of an unknown version or shape'],
    ['{"version":99,"value":"submitted","context":{}}', 'it is of an unknown version or shape'],
    [writeSnapshot(taskOf()).replace('submitted', 'dreaming'), 'it is of an unknown version or shape'],
    [writeSnapshot(taskOf({ status: 'paused' })), 'its state is paused, that of the row is submitted'],
    [writeSnapshot(taskOf({ run: 9 })), 'its context is not that of the row'],
  ])('X-012 a snapshot that reads %j is at fault: %s, and the row is read in its place', (snapshot, fault) => {
    const task = { ...taskOf(), snapshot }
    expect(snapshotFault(task)).toBe(fault)
    const context = { taskId: 'task-a', name: task.name, attempt: 1, run: 0 }
    expect(readSnapshot(task)).toEqual({ version: 1, value: 'submitted', context, fault })
  })
})
