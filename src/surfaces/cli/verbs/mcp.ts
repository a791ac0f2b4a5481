// `errand mcp`: serves the board and the tasks of a ledger as MCP tools, over stdio for one client, or over HTTP for several.
import type { Readable } from 'node:stream'
import { createBoardSession } from '../../../board/board-session.ts'
import { tokenVariables } from '../../../commands/secret-variables.ts'
import { systemClock } from '../../../core/clock.ts'
import { randomText } from '../../../core/ids.ts'
import { messageOf } from '../../../core/stored-error.ts'
import type { Engine } from '../../../engine/engine-api.ts'
import { modelBounds } from '../../../entities/creation-bounds.ts'
import { type FlagsOf, lists, misuse, switches, texts, wholeNumber } from '../../terminal/arguments.ts'
import { exitCodes } from '../../terminal/exit-code.ts'
import { type CommandIo, note, print, printJson } from '../../terminal/io.ts'
import { durationOption } from '../../terminal/option-values.ts'
import { aborted, untilInterrupted } from '../../terminal/stop-listener.ts'
import { mirrorFolders } from '../board-folders.ts'
import { boardName, boardOptions } from '../board-target.ts'
import { clientName } from '../client-name.ts'
import { plansFolder, withLedger } from '../open-ledger.ts'
import { chooseToken, orMisuse } from '../serving.ts'
import { defineVerb } from '../verb.ts'

const tokenVariable = tokenVariables.mcp

const options = {
  ...boardOptions,
  ...texts('as', 'role', 'lease', 'max-tasks', 'host', 'port', 'token-file', 'plans'),
  ...lists('abilities', 'allow-host'),
  ...switches('http'),
}

export const mcp = defineVerb({
  usage:
    'mcp [--as NAME] [--role R] [--board NAME] [--lease DURATION] [--abilities LIST] [--max-tasks N] [--plans DIR] [--http [--host H] [--port N] [--token-file F]]',
  help: [
    'Serves the board and the tasks of the ledger as tools of the Model Context Protocol over stdin and stdout, and exits when its client disconnects. While the client is connected, the server renews its claims. After that the claims expire, and other clients can claim the tasks.',
    '  --as NAME         the name of the client, which owns its claims; default: ERRAND_AGENT, else the name that the client sends, followed by four random letters',
    '  --role R          the role of the client; it may also claim tasks that only this role may claim',
    '  --board NAME      a board other than main',
    '  --lease DURATION  how long the claims of a disconnected client last; default 1m',
    '  --abilities LIST  the tools, separated by commas: a toolset or abilities such as board:* and task:get; default: worker',
    '                    worker: claim and complete tasks; lead: also create tasks and have them run; observer: only read',
    '                    for teams and memory: agent:*, objective:*, task:context, mem:*',
    `  --max-tasks N     how many tasks clients may create below a root of their own, or below the task that they add to; default ${modelBounds.maxTasks}`,
    '  --plans DIR       let clients run plans, and so commands (the tool plan_run); the commands start in this folder or below it',
    '  --http            serve over HTTP instead, until Ctrl-C; each client sends its name in the header x-errand-agent',
    '  --host H          the address to listen at; default 127.0.0.1',
    '  --port N          default: a free port',
    '  --allow-host H    with --http: the host and port by which clients reach the server; replaces the default ones; may be given several times',
    `  --token-file F    with --http: the file with the token that clients must send; default: ${tokenVariable}, else a new token, printed to stderr`,
  ].join('\n'),
  options,
  positionals: { max: 0 },
  async run(io, { values }) {
    refuseIdleOptions(values)
    const serve = values.http ? serveHttp : serveStdio
    return await untilInterrupted(io, (signal) =>
      withLedger(io, { ...values, create: true, plans: plansFolder(io, values) }, async (engine) => {
        const mirrors = await mirrorFolders(io, engine)
        try {
          return await serve(io, engine, values, signal)
        } finally {
          for (const mirror of mirrors) await mirror.close()
        }
      }),
    )
  },
})

type McpFlags = FlagsOf<typeof options>

function refuseIdleOptions(flags: McpFlags): void {
  const idle = (['host', 'port', 'allow-host', 'token-file'] as const).find((option) => flags[option] !== undefined)
  if (!flags.http && idle !== undefined) throw misuse(`--${idle} needs --http.`)
}

/** Options for both transports. */
function sharedOptions(io: CommandIo, engine: Engine, flags: McpFlags, defaultAbilities: readonly string[]) {
  const board = boardName(flags)
  const leaseMs = flags.lease === undefined ? undefined : durationOption('lease', flags.lease)
  const named = flags.abilities?.flatMap((list) => list.split(',')).map((each) => each.trim())
  return {
    abilities: flags.plans === undefined ? named : [...(named ?? defaultAbilities), 'plan:run'],
    ...(flags['max-tasks'] === undefined
      ? {}
      : { bounds: { maxTasks: wholeNumber('max-tasks', flags['max-tasks'], 0) } }),
    session: (as: string) =>
      createBoardSession({ bus: engine.bus, as, role: flags.role, board, leaseMs, surface: 'mcp', clock: systemClock }),
    onError: (error: unknown) => note(io, `errand mcp: ${messageOf(error)}`),
  }
}

function givenName(io: CommandIo, flags: McpFlags): string | undefined {
  return flags.as ?? (io.env['ERRAND_AGENT']?.trim() || undefined)
}

async function serveStdio(io: CommandIo, engine: Engine, flags: McpFlags, signal: AbortSignal): Promise<number> {
  const { defaultAbilities, serveMcpStdio } = await import('../../mcp/index.ts')
  const input = io.input?.() ?? io.keyboard
  if (input === undefined) throw misuse('There is no stdin to serve a client on; --http serves over HTTP.')
  if (input === io.keyboard) note(io, 'Serving MCP on stdin and stdout; Ctrl-C ends it.')
  const as = givenName(io, flags) ?? `${await clientName(input, signal)}-${fourLetters()}`
  // The client has disconnected without a message: the input does not emit `end` again.
  if ((input as Readable).readableEnded) return exitCodes.done
  try {
    await serveMcpStdio(engine, { ...sharedOptions(io, engine, flags, defaultAbilities), as, input, signal })
  } catch (error) {
    // The client keeps its end open until it gets an answer, and an open input keeps the process alive.
    ;(input as Readable).destroy()
    throw error
  }
  return signal.aborted ? exitCodes.interrupted : exitCodes.done
}

async function serveHttp(io: CommandIo, engine: Engine, flags: McpFlags, signal: AbortSignal): Promise<number> {
  const { defaultAbilities, serveMcpHttp } = await import('../../mcp/index.ts')
  const port = flags.port === undefined ? undefined : wholeNumber('port', flags.port, 0)
  const { token, isNew } = await chooseToken(io, flags['token-file'], tokenVariable)
  const listening = serveMcpHttp(engine, {
    ...sharedOptions(io, engine, flags, defaultAbilities),
    as: givenName(io, flags) ?? `http-${fourLetters()}`,
    token,
    host: flags.host,
    port,
    allowedHosts: flags['allow-host'],
  })
  const server = await orMisuse(listening)
  if (isNew) note(io, `Token (shown only once): ${token}`)
  if (flags.json) printJson(io, { url: server.url })
  else print(io, server.url)
  await aborted(signal)
  await server.close()
  return exitCodes.interrupted
}

/** Distinguishes clients with the same name. */
function fourLetters(): string {
  return randomText(4)
}
