// `errand hook session-end`: that a session has ended stands in the conversation of its task, so that the next one knows of it; and what
// it has observed becomes facts.
import { isoTime, systemClock } from '../../../../clock.ts'
import { type BoardAccess, fromHere, memberName, withBoard } from '../../board-place.ts'
import {
  findNamed,
  type HookInput,
  hookOptions,
  hookOptionsHelp,
  hookTimeout,
  inSession,
  inTime,
  namesOfTask,
  readHookInput,
} from '../../hook-call.ts'
import { cleanLine } from '../../terminal-text.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'hook session-end [--as NAME] [--board NAME] [--timeout DURATION]',
  help: [
    "Makes facts of what the session has observed, on every branch of memory. Notes in the conversation of the session's task that the session has ended: which one, when, why, and where its transcript lies. Without a task nothing is noted. A claim is not touched: with a lease it lapses, without one it stays. Takes the JSON of the hook on standard input.",
    ...hookOptionsHelp,
  ].join('\n'),
  options: hookOptions,
  positionals: { max: 0 },
  silent: true,
  run: (io, { values }) =>
    inTime(io, hookTimeout(values), async () => {
      const input = await readHookInput(io)
      const text = endingWords(input, memberName(io, values), systemClock.now())
      const work = async (place: BoardAccess): Promise<void> => {
        // Neither is to go without the other because something is wrong with that one.
        const done = await Promise.allSettled([note(place, namesOfTask(io), text), consolidate(place, input)])
        for (const each of done) if (each.status === 'rejected') throw each.reason
      }
      await withBoard(inSession(io, input), values, work, { folders: false })
    }),
})

async function note(place: BoardAccess, names: readonly string[], text: string): Promise<void> {
  const id = await findNamed(place, names)
  if (id === undefined) return
  const { engine, board } = place
  const { task } = await engine.bus.call('board:get', { id, board }, fromHere)
  // Said by an agent, to people and to the next session: where a model of the engine works on the task, it does not read it.
  await engine.bus.call('task:note', { taskId: task.taskId, text }, fromHere)
}

/** On every branch where it has observed something that no run has taken up (conformance S2-059). */
async function consolidate({ engine }: BoardAccess, { session_id: sessionId }: HookInput): Promise<void> {
  if (sessionId === undefined) return
  await engine.bus.call('mem:consolidate', { level: 'session', sessionId }, fromHere)
}

function endingWords(
  { session_id, reason, transcript_path }: HookInput,
  agent: string | undefined,
  at: number,
): string {
  const who = agent === undefined ? '' : ` of ${agent}`
  const words = [
    `Session ${session_id ?? 'without an id'}${who} ended at ${isoTime(at)}`,
    ...(reason === undefined ? [] : [`reason: ${reason}`]),
    ...(transcript_path === undefined ? [] : [`transcript: ${transcript_path}`]),
  ]
  return cleanLine(words.join('; '))
}
