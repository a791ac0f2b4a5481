// The CPU time of all processes of a PostgreSQL server on this machine, from /proc.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type pg from 'pg'

/** USER_HZ of Linux on all platforms of Node. */
const msPerTick = 10

interface ProcessTimes {
  parent: number
  /** Own, and of children that have ended. */
  ownMs: number
  endedMs: number
}

/** Returns the CPU time so far in milliseconds; undefined if the server runs elsewhere. */
export async function serverCpu(client: pg.Client): Promise<(() => number) | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const session = (rows[0] as { pid: number }).pid
  if (!existsSync(`/proc/${session}/comm`)) return undefined
  if (!readFileSync(`/proc/${session}/comm`, 'utf8').startsWith('postgres')) return undefined
  const main = timesOf(session)?.parent
  if (main === undefined) return undefined
  return () => {
    let sum = 0
    for (const name of readdirSync('/proc')) {
      const times = /^\d+$/.test(name) ? timesOf(Number(name)) : undefined
      if (times === undefined || (Number(name) !== main && times.parent !== main)) continue
      sum += times.ownMs + (Number(name) === main ? times.endedMs : 0)
    }
    return sum
  }
}

function timesOf(pid: number): ProcessTimes | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    // It has ended since the folder was listed.
    return undefined
  }
  // After the name, which may hold spaces: state, parent, … and from the 12th on utime, stime, cutime, cstime.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const ms = (from: number): number => ((fields[from] as number) + (fields[from + 1] as number)) * msPerTick
  return { parent: fields[1] as number, ownMs: ms(11), endedMs: ms(13) }
}
