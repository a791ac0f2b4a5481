// task:messages and task:note: reading a conversation page by page, and adding notes to it.
import { expect, it } from 'vitest'
import { openEngine, refusalOf } from '../engine/world.ts'
import { heldModel, modelOf, surface } from './world.ts'

interface Page {
  messages: Array<{ content: string }>
  next: number
}

async function world() {
  const engine = await openEngine({ autoStart: false })
  const { id } = await engine.create({ name: 'Talk' })
  for (const text of ['one', 'two', 'three']) await engine.send(id, text)
  const call = surface(engine)
  const read = (input: object) => call('task:messages', { taskId: id, ...input }) as unknown as Promise<Page>
  return { engine, id, call, read }
}

const texts = ({ messages }: Page) => messages.map(({ content }) => content)

it('task:messages returns the conversation oldest first, each message once when `next` is passed as `after`', async () => {
  const { engine, id, read } = await world()
  const whole = await read({})
  expect(texts(whole)).toEqual(['one', 'two', 'three'])
  expect(whole.messages[0]).toEqual({
    id: expect.any(String) as string,
    taskId: id,
    role: 'user',
    content: 'one',
    timestamp: expect.any(Number) as number,
    announcement: false,
  })
  const first = await read({ limit: 2 })
  expect(texts(first)).toEqual(['one', 'two'])
  expect(texts(await read({ after: first.next }))).toEqual(['three'])
  expect(await read({ after: whole.next })).toEqual({ messages: [], next: whole.next })
  await engine.send(id, 'four')
  expect(texts(await read({ after: whole.next }))).toEqual(['four'])
  expect(await read({ after: 1, limit: 0 })).toEqual({ messages: [], next: 1 })
})

it('task:messages refuses an unknown task, an invalid position and a limit above the maximum', async () => {
  const { call, read } = await world()
  await refusalOf(call('task:messages', { taskId: 'task-nowhere' }), 'NOT_FOUND')
  for (const input of [{ after: -1 }, { after: 0.5 }, { limit: 1_001 }, { before: 3 }]) {
    await refusalOf(read(input), 'INVALID_INPUT')
  }
})

it('task:messages lets a model read its own task and the tasks below it only', async () => {
  const { engine, id } = await world()
  const child = await engine.create({ name: 'Child', parentId: id })
  const unrelated = await engine.create({ name: 'Unrelated' })
  const asModel = surface(engine, modelOf(id))
  expect(texts((await asModel('task:messages', { taskId: id })) as unknown as Page)).toEqual(['one', 'two', 'three'])
  expect(await asModel('task:messages', { taskId: child.id })).toEqual({ messages: [], next: 0 })
  await refusalOf(asModel('task:messages', { taskId: unrelated.id }), 'FORBIDDEN')
})

it('task:note adds a note that people and programs read, but not the model that works on the task', async () => {
  const held = heldModel()
  const engine = await openEngine({ model: held.model })
  const call = surface(engine)
  const { id: taskId } = await engine.create({ goal: 'Work' })
  const first = await held.asked(0)
  const { messageId } = await call('task:note', { taskId, text: 'The session has ended' })
  first.answer.resolve({ text: 'Done' })
  expect(await engine.result(taskId)).toBe('Done')
  expect((await engine.messages(taskId)).find(({ id }) => id === messageId)).toMatchObject({
    role: 'assistant',
    content: 'The session has ended',
    announcement: true,
  })
  expect(held.steps).toHaveLength(1)
})

it('task:note refuses an unknown task, an empty note, and models', async () => {
  const { id, engine, call } = await world()
  await refusalOf(call('task:note', { taskId: 'task-nowhere', text: 'Hello' }), 'NOT_FOUND')
  await refusalOf(call('task:note', { taskId: id, text: '' }), 'INVALID_INPUT')
  await refusalOf(surface(engine, modelOf(id))('task:note', { taskId: id, text: 'Hello' }), 'FORBIDDEN')
})
