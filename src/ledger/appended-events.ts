// What a part of a step appends, without reading it: on a server events are numbered with the commit, and cannot be read before.
import type { NewEvent, Op } from './ledger.ts'
import { type Asked, isSeveral } from './statement.ts'

/** Runs a part of a step, and calls `see` for every event that it appends one by one. */
export function* seeingEvents<R>(part: Op<R>, see: (event: NewEvent) => void): Op<R> {
  let next = part.next()
  while (!next.done) {
    const asked = next.value as Asked
    if (!isSeveral(asked) && typeof asked.appends === 'object') see(asked.appends)
    let reply: unknown
    try {
      reply = yield asked
    } catch (error) {
      next = part.throw(error)
      continue
    }
    next = part.next(reply)
  }
  return next.value
}
