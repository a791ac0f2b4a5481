// `--mcp COMMAND`, and `mcp` in a plan: the tools of MCP servers for agents. Each server is a command that the user names, and runs as long as the command line.
import type { Ability } from '../../bus/ability.ts'
import { ErrandError } from '../../core/errors.ts'
import { loadOptional } from '../../core/optional-package.ts'
import { packageVersion } from '../../core/package-folder.ts'
import { messageOf } from '../../core/stored-error.ts'
import { misuse } from '../terminal/arguments.ts'
import type { CommandIo } from '../terminal/io.ts'
import { atEnd } from './at-end.ts'

const packageName = '@modelcontextprotocol/client'

export const mcpHelp = [
  '  --mcp COMMAND  offers agents the tools of the MCP server that this command starts, as mcp:TOOL; NAME=COMMAND: as NAME:TOOL; may be',
  '                 given several times. The server runs with your rights',
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
  return (await Promise.all(named.map((server) => connected(io, server, cwd)))).flat()
}

interface NamedServer {
  module: string
  command: string
}

function nameOf(given: string): NamedServer {
  const [, module = 'mcp', command = given] = /^([A-Za-z0-9_-]{1,40})=(.+)$/s.exec(given.trim()) ?? []
  if (command.trim() === '')
    throw misuse("--mcp is empty. Give the command of an MCP server, like --mcp 'npx some-server'.")
  return { module, command }
}

async function connected(io: CommandIo, { module, command }: NamedServer, cwd: string): Promise<Ability[]> {
  const [{ Client }, { StdioClientTransport }, { mcpTools }] = await Promise.all([
    loadOptional(packageName, '--mcp', () => import('@modelcontextprotocol/client')),
    loadOptional(packageName, '--mcp', () => import('@modelcontextprotocol/client/stdio')),
    import('../../index.ts'),
  ])
  const client = new Client({ name: 'errand', version: packageVersion() })
  atEnd(io, () => client.close())
  try {
    // The server gets few variables of this process, and none of its keys.
    await client.connect(
      new StdioClientTransport({ command: 'sh', args: ['-c', `exec ${command}`], cwd, stderr: 'ignore' }),
    )
    return (await mcpTools(client, { module })).abilities
  } catch (error) {
    throw new ErrandError(
      'INVALID_INPUT',
      `The MCP server "${command}" does not answer: ${messageOf(error)}. Run the command by itself to see why.`,
      { command },
      error,
    )
  }
}
