// `errand serve`: runs the tasks of a ledger, and serves it over HTTP to programs and to a page in the browser, until it is interrupted.

import { tokenVariables } from '../../../commands/secret-variables.ts'
import { systemClock } from '../../../core/clock.ts'
import { messageOf } from '../../../core/stored-error.ts'
import type { Engine } from '../../../engine/engine-api.ts'
import type { LogFields, Logger } from '../../../entities/logger.ts'
import { type FlagsOf, lists, misuse, switches, texts, wholeNumber } from '../../terminal/arguments.ts'
import { exitCodes } from '../../terminal/exit-code.ts'
import { type CommandIo, note, print, printJson } from '../../terminal/io.ts'
import { aborted, StopListener } from '../../terminal/stop-listener.ts'
import { mirrorFolders } from '../board-folders.ts'
import { endCommands } from '../end-commands.ts'
import { agentOptions, agentOptionsHelp } from '../model-source.ts'
import { openEngine, plansFolder } from '../open-ledger.ts'
import { chooseToken, orMisuse, type ServedToken } from '../serving.ts'
import { openableLedger } from '../trusted-ledger.ts'
import { defineVerb } from '../verb.ts'
import { inheritEnvHelp, workingOptions } from '../working-options.ts'

const tokenVariable = tokenVariables.http
const defaultPort = 4711

const options = {
  ...agentOptions,
  ...texts('port', 'host', 'token-file', 'concurrency', 'plans'),
  ...lists('allow-host'),
  ...switches('no-work', 'no-page', 'inherit-env', 'log'),
}

export const serve = defineVerb({
  usage:
    'serve [--port N] [--host H] [--allow-host H]… [--token-file F] [--concurrency N] [--no-work] [--no-page] [--inherit-env] [--log] [--plans DIR] [--model SPEC] [--files DIR] [--mcp COMMAND]…',
  help: [
    'Serves the ledger over HTTP, with a page at / to watch and control it, until Ctrl-C. Also runs the tasks of the ledger: commands, questions and, with --model, agents. After a restart, it continues them.',
    'The token permits everything, including running commands. The page /docs describes the routes.',
    `  --port N          default ${defaultPort}; 0: a free port`,
    '  --host H          the address to listen at; default 127.0.0.1, reachable from this machine only',
    '  --allow-host H    the host and port by which clients reach the server (their Host header); replaces the default ones; may be given several times',
    `  --token-file F    the file with the token that clients must send, at least 32 characters; default: ${tokenVariable}, else a new token, printed once in the link to the page`,
    '  --concurrency N   how many tasks may run at once; default 10',
    '  --no-work         serve the ledger without running its tasks',
    '  --no-page         serve no page',
    inheritEnvHelp,
    '  --log             write a line of JSON to stderr when a run begins or ends, is retried or taken over, without content of tasks',
    '  --plans DIR       accept plans at POST /plans; their commands start in this folder or below it',
    'Agents, for tasks with a goal:',
    agentOptionsHelp,
    '  --json            print { "url", "token" } instead; "token" only if it is new',
  ].join('\n'),
  options,
  positionals: { max: 0 },
  async run(io, { values }) {
    // An invalid token is reported before a ledger is created.
    const token = await chooseToken(io, values['token-file'], tokenVariable)
    using stop = new StopListener(io)
    const engine = await engineFor(io, values)
    stop.endCommands = () => endCommands(engine)
    try {
      return await serveUntil(io, engine, values, token, stop.signal)
    } finally {
      await engine.close()
    }
  },
})

type ServeFlags = FlagsOf<typeof options>

/** An engine with the options of `errand run`, which does not work yet. */
async function engineFor(io: CommandIo, flags: ServeFlags): Promise<Engine> {
  if (flags.concurrency !== undefined && flags['no-work']) {
    throw misuse('--concurrency has no effect with --no-work: no tasks run.')
  }
  if (flags['inherit-env'] && flags['no-work'])
    throw misuse('--inherit-env has no effect with --no-work: no tasks run.')
  const ledger = await openableLedger(io, flags)
  const options = await workingOptions(io, ledger, flags)
  return await openEngine(io, flags, {
    ...options,
    plans: plansFolder(io, flags),
    work: false,
    onError: (error) => noteError(io, error),
    ...(flags.log ? { logger: linesOfJson(io) } : {}),
  })
}

async function serveUntil(
  io: CommandIo,
  engine: Engine,
  flags: ServeFlags,
  { token, isNew }: ServedToken,
  signal: AbortSignal,
): Promise<number> {
  const { serve } = await import('../../http/index.ts')
  const listening = serve(engine, {
    token,
    port: flags.port === undefined ? defaultPort : wholeNumber('port', flags.port, 0),
    page: flags['no-page'] !== true,
    host: flags.host,
    allowedHosts: flags['allow-host'],
    onError: (error) => noteError(io, error),
  })
  const server = await orMisuse(listening)
  const mirrors = await mirrorFolders(io, engine)
  try {
    if (flags['no-work'] !== true) await engine.work()
    if (isWildcard(flags.host) && flags['allow-host'] === undefined) note(io, wildcardNote)
    // Only a new token is printed: the user knows a given one.
    if (flags.json) printJson(io, { url: server.url, ...(isNew ? { token } : {}) })
    else print(io, addressOf(server.url, isNew ? token : undefined, flags['no-page'] !== true))
    await aborted(signal)
    note(io, stoppingNote)
  } finally {
    await server.close()
    for (const mirror of mirrors) await mirror.close()
  }
  return exitCodes.interrupted
}

/** With a new token: a link that signs in to the page or, without a page, the token below the address. */
function addressOf(url: string, token: string | undefined, hasPage: boolean): string {
  if (token === undefined) return url
  return hasPage ? `${url}/#token=${token}` : `${url}\ntoken: ${token}`
}

const stoppingNote =
  'Stopping: running tasks are released, and the next process that works on the ledger continues them. Press Ctrl-C again to stop at once.'
const wildcardNote =
  'The server listens on all addresses, but accepts requests only under the names of this machine (localhost). Name others with --allow-host.'

/** A wildcard address is not a name that a Host header could be checked against. */
function isWildcard(host: string | undefined): boolean {
  return host === '0.0.0.0' || host === '::'
}

function linesOfJson(io: CommandIo): Logger {
  const at =
    (level: string) =>
    (fields: LogFields, message: string): void =>
      note(io, JSON.stringify({ time: new Date(systemClock.now()).toISOString(), level, message, ...fields }))
  return { debug: () => {}, info: at('info'), warn: at('warn'), error: at('error') }
}

function noteError(io: CommandIo, error: unknown): void {
  note(io, `errand serve: ${messageOf(error)}`)
}
