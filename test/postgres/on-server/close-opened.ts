// After each file of the suites on a server.
import { afterAll } from 'vitest'
import { closeOpened } from './open-ledger.ts'

afterAll(closeOpened)
