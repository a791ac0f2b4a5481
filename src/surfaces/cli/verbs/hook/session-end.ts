// `errand hook session-end`: that a session has ended stands in the conversation of its task, so that the next one knows of it.
import { isoTime, systemClock } from '../../../../clock.ts'
import { type BoardAccess, fromHere, memberName, withBoard } from '../../board-place.ts'
import {
  type HookInput,
  hookOptions,
  hookOptionsHelp,
  hookTimeout,
  inSession,
  inTime,
  readHookInput,
  taskOfSession,
} from '../../hook-call.ts'
import { cleanLine } from '../../terminal-text.ts'
import { defineVerb } from '../../verb.ts'

export const sessionEndVerb = defineVerb({
  usage: 'hook session-end [--as NAME] [--board NAME] [--timeout DURATION]',
  help: [
    "Notes in the conversation of the session's task that the session has ended: which one, when, why, and where its transcript lies. Without a task nothing is noted. A claim is not touched: with a lease it lapses, without one it stays. Takes the JSON of the hook on standard input.",
    ...hookOptionsHelp,
  ].join('\n'),
  options: hookOptions,
  positionals: { max: 0 },
  silent: true,
  run: (io, { values }) =>
    inTime(io, hookTimeout(values), async () => {
      const input = await readHookInput(io)
      const work = async (place: BoardAccess): Promise<void> => {
        const id = await taskOfSession(io, place)
        if (id === undefined) return
        const { engine, board } = place
        const { task } = await engine.bus.call('board:get', { id, board }, fromHere)
        const content = endingWords(input, memberName(io, values), systemClock.now())
        // Said by an agent, to people and to the next session: where a model of the engine works on the task, it does not read it.
        const message = { taskId: task.taskId, role: 'assistant', content } as const
        await engine.bus.call('ldg:msg:save', { message }, fromHere)
      }
      await withBoard(inSession(io, input), values, work, { folders: false })
    }),
})

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
