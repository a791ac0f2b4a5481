// Checks a large file for damage beside the running engine, on a connection of its own that only reads.
import { parentPort, workerData } from 'node:worker_threads'
import { connect } from './connection.ts'
import { quickCheck } from './quick-check.ts'

const connection = connect(workerData as string, { busyTimeoutMs: 1_000, readonly: true })
try {
  quickCheck(connection)
  parentPort?.postMessage(null)
} catch (error) {
  parentPort?.postMessage(error instanceof Error ? error.message : String(error))
} finally {
  connection.close()
}
