#include "core/base/check.h"
