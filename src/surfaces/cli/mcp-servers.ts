// `--mcp COMMAND`, and `mcp` in a plan: the tools of MCP servers for agents. Each server is a command that the user names, and runs as long as the command line.
import type { McpTools } from '../../agents/mcp/mcp-tools.ts'
import type { Ability } from '../../bus/ability.ts'
import { ErrandError } from '../../core/errors.ts'
import { notInstalled } from '../../core/optional-package.ts'
import { packageVersion } from '../../core/package-folder.ts'
import { messageOf } from '../../core/stored-error.ts'
import type { Engine } from '../../engine/engine-api.ts'
import { misuse } from '../terminal/arguments.ts'
import { type CommandIo, note } from '../terminal/io.ts'
import { atEnd } from './at-end.ts'

const packageName = '@modelcontextprotocol/client'

export const mcpHelp = [
  '  --mcp COMMAND  offers agents the tools of the MCP server that this command of the shell starts, as mcp:TOOL; NAME=COMMAND: as',
  "                 NAME:TOOL. A variable comes after a name: mcp='KEY=1 COMMAND'. May be given several times. The server runs with",
  '                 your rights',
].join('\n')

/**
 * Starts the servers, and resolves to abilities for their tools.
 * @throws ErrandError NOT_OFFERED without the client's package; INVALID_INPUT for a server that does not start
 */
export async function mcpAbilities(io: CommandIo, commands: readonly string[], cwd: string): Promise<Ability[]> {
  const named = commands.map(nameOf)
  const twice = named.find(({ module }, at) => named.findIndex((other) => other.module === module) !== at)
  if (twice !== undefined)
    throw misuse(`Two MCP servers have the name "${twice.module}". Name one: --mcp other='${twice.command}'.`)
  const servers = await Promise.all(named.map((server) => connected(io, server, cwd)))
  started.set(io, servers)
  return servers.flatMap(({ abilities }) => abilities)
}

/** The servers of a command line. */
const started = new WeakMap<CommandIo, readonly McpTools[]>()

/** Offers what the servers of this command line add to their tools, and no longer what they remove, until it ends. */
export function followServers(io: CommandIo, engine: Engine): void {
  for (const server of started.get(io) ?? []) {
    const stop = server.follow(engine, (error) =>
      note(io, `errand: an MCP server has changed its tools: ${messageOf(error)}`),
    )
    atEnd(io, async () => stop())
  }
}

interface NamedServer {
  module: string
  command: string
}

/** What stands before the first `=` is a name, unless it has the form of a variable of the environment: then it might be either. */
function nameOf(given: string): NamedServer {
  const [, module = 'mcp', command = given] = /^([A-Za-z0-9_-]{1,40})=(.+)$/s.exec(given.trim()) ?? []
  if (command.trim() === '')
    throw misuse("--mcp is empty. Give the command of an MCP server, like --mcp 'npx some-server'.")
  if (/^[A-Z_][A-Z0-9_]*$/.test(module)) {
    throw misuse(
      `"${given.trim()}": ${module} may be the name of an MCP server or a variable of its environment. Write the name in small letters, ${module.toLowerCase()}='${command}', or a name before the variable, mcp='${given.trim()}'.`,
    )
  }
  return { module, command }
}

/** One command with its arguments, without syntax of the shell and variables before it. */
const plainCommand = /^[^\s=;&|<>(){}`]+(?:[^\S\n][^;&|<>(){}`\n]*)?$/

/** Each import is awaited by itself: only of these does esbuild accept that the package is not installed. */
async function loadClient() {
  try {
    const { Client } = await import('@modelcontextprotocol/client')
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
    const { mcpTools } = await import('../../index.ts')
    return { Client, StdioClientTransport, mcpTools }
  } catch (error) {
    throw notInstalled(error, packageName, '--mcp')
  }
}

async function connected(io: CommandIo, { module, command }: NamedServer, cwd: string): Promise<McpTools> {
  const { Client, StdioClientTransport, mcpTools } = await loadClient()
  // The client asks servers of the current protocol to report changes. What it does with a report, `follow` replaces.
  const listChanged = { tools: { autoRefresh: false, onChanged: () => {} } }
  const client = new Client({ name: 'errand', version: packageVersion() }, { listChanged })
  atEnd(io, () => client.close())
  try {
    // With `exec` no shell stands between the client and the server, so that the client can end it.
    const line = plainCommand.test(command.trim()) ? `exec ${command}` : command
    // The server gets few variables of this process, and none of its keys.
    await client.connect(new StdioClientTransport({ command: 'sh', args: ['-c', line], cwd, stderr: 'ignore' }))
    return await mcpTools(client, { module })
  } catch (error) {
    throw new ErrandError(
      'INVALID_INPUT',
      `The MCP server "${command}" does not answer: ${messageOf(error)}. Run the command by itself to see why.`,
      { command },
      error,
    )
  }
}
