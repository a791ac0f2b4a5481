// Network namespaces for processes: each has a link of its own to this host, which can be cut without a sign to either side.
import { execFileSync } from 'node:child_process'

export interface Network {
  /** The address of this host on the link of a namespace. */
  addressOf(at: number): string
  /** The command that starts another command in a namespace. */
  within(at: number): readonly string[]
  cut(at: number): void
  mend(at: number): void
  close(): void
}

const ip = (...args: string[]) => void execFileSync('ip', args, { stdio: 'pipe' })

/** The first of so many subnets that no other process uses: several runs may be under way on this host. */
function freeSubnet(count: number): number {
  const used = execFileSync('ip', ['-4', '-o', 'address'], { encoding: 'utf8' })
  const blocks = Math.floor(250 / count)
  for (let block = process.pid; block < process.pid + blocks; block++) {
    const first = (block % blocks) * count + 1
    if (!Array.from({ length: count }, (_, at) => `10.83.${first + at}.`).some((each) => used.includes(each)))
      return first
  }
  throw new Error('No subnet is free.')
}

/** Undefined where this process may not make namespaces. */
export function openNetwork(count: number): Network | undefined {
  const nameOf = (at: number) => `errand-${process.pid}-${at}`
  const linkOf = (at: number) => `er${process.pid % 100_000}-${at}`
  const first = freeSubnet(count)
  const address = (at: number, end: number) => `10.83.${first + at}.${end}`
  const remove = (at: number) => {
    try {
      ip('netns', 'delete', nameOf(at))
    } catch {
      // It was never made.
    }
  }
  const close = () => {
    for (let at = 0; at < count; at++) remove(at)
  }
  try {
    for (let at = 0; at < count; at++) {
      ip('netns', 'add', nameOf(at))
      ip('link', 'add', linkOf(at), 'type', 'veth', 'peer', 'name', 'link0', 'netns', nameOf(at))
      ip('address', 'add', `${address(at, 1)}/24`, 'dev', linkOf(at))
      ip('link', 'set', linkOf(at), 'up')
      ip('-n', nameOf(at), 'address', 'add', `${address(at, 2)}/24`, 'dev', 'link0')
      ip('-n', nameOf(at), 'link', 'set', 'link0', 'up')
      ip('-n', nameOf(at), 'link', 'set', 'lo', 'up')
    }
  } catch (error) {
    close()
    console.warn(`SKIPPED: network namespaces (${String((error as { stderr?: unknown }).stderr ?? error).trim()})`)
    return undefined
  }
  return {
    addressOf: (at) => address(at, 1),
    within: (at) => ['ip', 'netns', 'exec', nameOf(at)],
    cut: (at) => ip('-n', nameOf(at), 'link', 'set', 'link0', 'down'),
    mend: (at) => ip('-n', nameOf(at), 'link', 'set', 'link0', 'up'),
    close,
  }
}
