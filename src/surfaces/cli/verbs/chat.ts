// `errand chat`: reads lines and prints answers. The agents that the lines start or address run here while the chat lasts.

import { messageOf } from '../../../core/stored-error.ts'
import type { Engine } from '../../../engine/engine-api.ts'
import { switches } from '../../terminal/arguments.ts'
import { type ChatLines, openChatLines } from '../../terminal/chat-lines.ts'
import { exitCodes } from '../../terminal/exit-code.ts'
import { type CommandIo, note, printJson } from '../../terminal/io.ts'
import { StopListener } from '../../terminal/stop-listener.ts'
import { taskLabel } from '../../terminal/task-labels.ts'
import { ChatSession } from '../chat-session.ts'
import { agentOptions, agentOptionsHelp, readyAgents, requireModel } from '../model-source.ts'
import { openEngine } from '../open-ledger.ts'
import { defineVerb } from '../verb.ts'

export const chat = defineVerb({
  usage: 'chat --model SPEC [--no-intent] [--files DIR] [--mcp COMMAND]… [--max-iterations N]',
  help: [
    'Reads lines. Each is a request about tasks (list, pause, cancel, …), a message for a task, or the goal of a new task; "@task-… text" names the task.',
    'At a terminal you can type while answers arrive. Each line of a pipe waits for the answer to the line before.',
    agentOptionsHelp,
    '  --no-intent  never treat a line as a request: it is a message or a goal',
    '  --json       print what was done with each line, and the items of the streams, one per line',
    'Ctrl-D or the end of the input ends the chat, and so does Ctrl-C (exit code 130). Open tasks stay open.',
  ].join('\n'),
  options: { ...agentOptions, ...switches('no-intent') },
  positionals: { max: 0 },
  async run(io, { values }) {
    const agents = await readyAgents(io, values, requireModel(io, values))
    const chat = openChatLines(io)
    const engine = await openEngine(io, values, {
      ...agents,
      onError: (error) => chat.listener.note(`errand: ${messageOf(error)}`),
    })
    try {
      return await talk(io, engine, chat, { intent: values['no-intent'] !== true, json: values.json === true })
    } finally {
      chat.close()
      await engine.close()
    }
  },
})

async function talk(
  io: CommandIo,
  engine: Engine,
  chat: ChatLines,
  { intent, json }: { intent: boolean; json: boolean },
): Promise<number> {
  const stop = new StopListener(io)
  stop.signal.addEventListener('abort', () => chat.close())
  const session = new ChatSession(engine, {
    intent,
    listener: chat.listener,
    json: json ? (value) => printJson(io, value) : undefined,
    signal: stop.signal,
  })
  try {
    chat.prompt()
    for await (const line of chat.lines) {
      if (stop.signal.aborted) break
      if (line.trim() !== '') await session.say(line)
      // At a terminal, answers may arrive while the next line is typed.
      if (!chat.isTerminal) await session.quiet()
      chat.prompt()
    }
    if (stop.signal.aborted) return exitCodes.interrupted
    for (const task of await session.open()) note(io, `${taskLabel(task)} stays open.`)
    return exitCodes.done
  } finally {
    await session.end()
    stop.end()
  }
}
