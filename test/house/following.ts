// Rules for code that follows the feed or reads in a loop. SQLite answers reads without giving way, so such a loop must do so itself: otherwise
// timers, signals and other steps wait until it ends.

import type { SourceFile } from './source.ts'

/** The feed itself, its followers, and steps and abilities that read one page of events. */
const readsEvents =
  /^src\/(?:actors\/(?:feed|follower|event-stream|task-stream)\.ts|operations\/|ledger\/|testing\/|board\/read-board\.ts|memory\/team\/objectives\.ts|webhooks\/outbox\.ts)/

/** What an engine needs to go on when a read fails or events are purged. */
const followsForItself = /^src\/(?:actors|agents|board|commands|memory)\//

export const feedHasOneFollower = (files: SourceFile[]): string[] =>
  files.flatMap(({ path, code }) => [
    ...(/\bevent\s*\.after\(/.test(code) && !readsEvents.test(path)
      ? [`${path} reads the feed page by page; use followFeed of actors/follower.ts`]
      : []),
    ...(followsForItself.test(path) && /\bfor await \([^)]*\bof [\w.#]*\bevents\(/.test(code)
      ? [`${path} follows events(), which ends at a failed read and at a purge; use followFeed of actors/follower.ts`]
      : []),
  ])

/** Words for waits that other work is done in: a turn, a pause, an event, a step, which is committed in a turn of its own. */
const givesWay = /\b(?:nextTurn|sleep|pause|moved|setTimeout|step)\(|\bnew Promise\b/

export const readingLoopsGiveWay = (files: SourceFile[]): string[] =>
  files
    .filter(({ path }) => /^src\/(?:actors|board|memory|operations)\//.test(path))
    .flatMap(({ path, code }) =>
      loopsOf(code)
        .filter((loop) => /\bawait\s[^;\n]*\bread\w*\(/.test(loop) && !givesWay.test(loop))
        .map((loop) => `${path} reads in a loop without giving way: ${loop.slice(0, loop.indexOf('\n'))}`),
    )

/** The text of each loop that may go on without end: `while`, and `for` with a condition. */
function loopsOf(code: string): string[] {
  return Array.from(code.matchAll(/\b(?:while|for) \(/g), ({ 0: head, index }) => {
    const close = endOf(code, index + head.length - 1)
    const isOverItems = /^for \((?:const|let) [^;]*\bof\b/.test(code.slice(index, close))
    if (isOverItems) return ''
    const open = code.indexOf('{', close)
    const hasBlock = open !== -1 && code.slice(close + 1, open).trim() === ''
    return code.slice(index, hasBlock ? endOf(code, open) : code.indexOf('\n', close))
  })
}

/** Where the bracket at a position closes. */
function endOf(code: string, start: number): number {
  let depth = 0
  for (let at = start; at < code.length; at++) {
    if ('({['.includes(code.charAt(at))) depth++
    if (')}]'.includes(code.charAt(at)) && --depth === 0) return at
  }
  return code.length
}
