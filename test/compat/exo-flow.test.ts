// From the creation of a task to the completion of its parent: Exo's integration flow after intent recognition.
import { describe, expect, it } from 'vitest'
import { openExo } from './exo-world.ts'

describe('the flow of a task', () => {
  it('S3-111 a task goes from creation over the scheduler to the completion of its parent, with an event for each step', async () => {
    const { manager, scheduler, received, eventsOf } = openExo({ autoComplete: true })
    const parent = await manager.create('Analyse the quarter')
    await manager.update(parent.id, { status: 'working' })
    const child = await manager.create('Research topic', { parentId: parent.id, priority: 5 })
    const handled = await scheduler.schedule(async (task) => `read ${task.name}`)
    expect(handled).toMatchObject([{ id: child.id, status: 'completed', result: 'read Research topic' }])
    await received('task.completed', parent)
    expect(eventsOf(child)).toEqual(['task.created', 'task.updated', 'task.started', 'task.completed'].map(ofChild))
    expect(eventsOf(parent)).toEqual(['task.created', 'task.started', 'task.completed'].map(ofParent))
    expect(await manager.get(parent.id)).toMatchObject({ status: 'completed' })
  })
})

const ofChild = (type: string) => `${type} Research topic`
const ofParent = (type: string) => `${type} Analyse the quarter`
