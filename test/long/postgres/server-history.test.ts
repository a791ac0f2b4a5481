// What an engine remembers of the events on a server, and misses on the one that takes over.
import { expect, it } from 'vitest'
import type { TaskEvent } from '../../../src/entities/event.ts'
import { ServerHistory } from '../../../src/ledger/postgres/server-history.ts'

const event = (seq: number) => ({ seq, type: 'task.created', taskId: `task-${seq}` }) as unknown as TaskEvent

/** A server with the events up to a number. */
const server = (timeline: string, last: number, purged: number | null = null) => ({
  query: async (sql: string, parameters: unknown[] = []) => {
    if (sql.includes(' as answer')) return { rows: [{ answer: sql.includes('walfile') ? timeline : 'started' }] }
    const found = (parameters[0] as number[]).filter((seq) => seq <= last && seq > (purged ?? 0))
    const rows = found.map((seq) => ({ seq, type: 'task.created', task_id: `task-${seq}`, purged }))
    return { rows: rows.length > 0 ? rows : [{ seq: null, purged }] }
  },
})

it('a server that takes over without the latest events is refused, also after a reader has read all of the past', async () => {
  const history = new ServerHistory('work')
  await history.look(server('1', 5_000))
  history.acknowledged([event(4_999), event(5_000)])
  history.seen(Array.from({ length: 4_900 }, (_, at) => event(at + 1)))
  await expect(history.look(server('2', 4_999))).rejects.toMatchObject({
    code: 'LEDGER_UNAVAILABLE',
    details: { lost: [{ seq: 5_000, taskId: 'task-5000' }] },
  })
})

it('events that were purged, and those of the same server, are not missed', async () => {
  const history = new ServerHistory('work')
  await history.look(server('1', 20))
  history.acknowledged([event(10), event(20)])
  await history.look(server('1', 5))
  await history.look(server('2', 20, 15))
  expect(history.timeline).toBe('2')
})

it('what is read from a server that has taken over, before it was looked at, is neither missed nor hides what it lacks', async () => {
  const history = new ServerHistory('work')
  await history.look(server('1', 20))
  history.acknowledged([event(20)])
  const { query } = server('2', 20)
  await history.look({
    async query(sql, parameters) {
      const answer = await query(sql, parameters)
      if (parameters !== undefined) history.seen([event(21)])
      return answer
    },
  })
  expect(history.timeline).toBe('2')
  history.acknowledged([event(22)])
  history.seen([{ ...event(22), taskId: 'task-other' }])
  await expect(history.look(server('3', 21))).rejects.toMatchObject({
    details: { lost: [{ seq: 22, taskId: 'task-22' }] },
  })
})

it('what the server before acknowledges until its connections are closed is looked for, and nothing is committed meanwhile', async () => {
  const history = new ServerHistory('work')
  await history.look(server('1', 20))
  const timelines: unknown[] = []
  history.onTakeover = () => history.acknowledged([event(21)])
  const { query } = server('2', 20)
  const looked = history.look({
    query(sql, parameters) {
      timelines.push(history.timeline)
      return query(sql, parameters)
    },
  })
  await expect(looked).rejects.toMatchObject({ details: { lost: [{ seq: 21 }] } })
  expect([...timelines, history.timeline]).toEqual(['1', '1', undefined, undefined])
})
