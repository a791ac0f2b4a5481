// Pages end at a number of bytes as well as of rows, so that a reader holds a few megabytes at a time, whatever is in the ledger.
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/engine/create-engine.ts'
import { fitting, maxPageBytes } from '../../src/ledger/page-bytes.ts'

const megabyte = 'x'.repeat(1024 * 1024)
const few = maxPageBytes / megabyte.length

/** An engine with a task that has `count` messages of a megabyte. */
async function talking(count: number) {
  const engine = await createEngine({ work: false })
  const task = await engine.create({ name: 'talk' })
  for (let n = 0; n < count; n++) await engine.send(task, `${n} ${megabyte}`)
  return { engine, task }
}

describe('a page', () => {
  it('a page has the rows that fit, and at least one', () => {
    expect(fitting([1, 2, 3])).toBe(3)
    expect(fitting([maxPageBytes, 1])).toBe(1)
    expect(fitting([maxPageBytes + 1, 1])).toBe(1)
    expect(fitting([])).toBe(0)
  })

  it('a page of messages ends before its limit, and the pages together have each message once', async () => {
    const { engine, task } = await talking(9)
    const seen: string[] = []
    for (let after = 0; ; ) {
      const { messages, next } = await engine.bus.call('task:messages', { taskId: task.id, after, limit: 100 })
      if (messages.length === 0) break
      expect(messages.length).toBeLessThanOrEqual(few)
      seen.push(...messages.map(({ content }) => content.slice(0, 2)))
      after = next
    }
    expect(seen).toEqual(Array.from({ length: 9 }, (_, n) => `${n} `))
    await engine.close()
  })

  it('a page of tasks ends before its limit, and the pages together have each task once', async () => {
    const engine = await createEngine({ work: false })
    for (let n = 0; n < 9; n++) await engine.create({ name: `${n}`, metadata: { megabyte } })
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await engine.list({ limit: 100, ...(after === undefined ? {} : { after }) })
      expect(page.tasks.length).toBeLessThanOrEqual(few)
      expect(page.total).toBe(9)
      seen.push(...page.tasks.map(({ name }) => name))
      after = page.next ?? undefined
    } while (after !== undefined)
    expect(seen).toEqual(Array.from({ length: 9 }, (_, n) => `${n}`))
    await engine.close()
  })

  it('a stream of a task with long messages has each of them once, and one end', async () => {
    const { engine, task } = await talking(9)
    await engine.cancel(task)
    const seen: string[] = []
    for await (const item of engine.stream(task)) {
      if (item.type === 'message') seen.push(item.content.slice(0, 2))
      if (item.type === 'end') seen.push('end')
    }
    expect(seen).toEqual([...Array.from({ length: 9 }, (_, n) => `${n} `), 'end'])
    await engine.close()
  })

  it('a page of events ends before its limit, in both directions', async () => {
    const engine = await createEngine({
      executors: { ask: (_task: unknown, run: { ask(q: string): Promise<unknown> }) => run.ask('What?') },
    })
    for (let n = 0; n < 6; n++) {
      const task = await engine.create({ executor: 'ask' })
      for await (const { type } of engine.events({ taskId: task.id })) if (type === 'question.asked') break
      await engine.answer(task, `${n} ${megabyte}`)
    }
    await engine.idle()
    const forward = await engine.bus.call('event:list', { limit: 1_000 })
    expect(forward.next).not.toBeNull()
    const seqs = forward.events.map(({ seq }) => seq)
    for (let next = forward.next; next !== null; ) {
      const page = await engine.bus.call('event:list', { after: next, limit: 1_000 })
      seqs.push(...page.events.map(({ seq }) => seq))
      next = page.next
    }
    expect(seqs).toEqual(Array.from({ length: forward.seq }, (_, n) => n + 1))
    const backward = await engine.bus.call('event:list', { before: forward.seq + 1, limit: 1_000 })
    expect(backward.events.length).toBeLessThan(seqs.length)
    expect(backward.next).toBe(backward.events.at(-1)?.seq)
    await engine.close()
  })

  it('a graph and the rows of a list have no long fields', async () => {
    const engine = await createEngine({ work: false })
    const { id } = await engine.create({ name: 'long', input: megabyte, description: 'd', metadata: { a: 1 } })
    const [first] = (await engine.graph()).order
    expect(first).toMatchObject({ id, name: 'long' })
    for (const field of ['goal', 'description', 'input', 'result', 'metadata']) expect(first).not.toHaveProperty(field)
    const { tasks } = await engine.bus.call('task:list', {})
    expect(tasks).toMatchObject([{ id, name: 'long' }])
    await engine.close()
  })
})
